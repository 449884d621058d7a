/** Policy of pages that are answers: they have a style sheet and forms, and no script. */
export const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
