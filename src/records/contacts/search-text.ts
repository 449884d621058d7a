/**
 * The text of a contact `k` in which it is searched for, in lower case: name, e-mail address, phone number and identifier. Written as the
 * trigram index contacts_by_text is, so that the index is used.
 */
export const contactText = `lower(k.name || ' ' || coalesce(k.email, '') || ' ' || coalesce(k.phone_number, '') || ' '
      || coalesce(k.identifier, ''))`;
