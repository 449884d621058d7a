/**
 * The rule of webhooks' filters, in the database, so that an event is filtered in the statement that commits it. Conditions are
 * those of filters of conversations: a value equals one of several as texts, labels equal when one of them does, and
 * `contains` looks for a text in any case. A fact that an event does not have is absent: it equals nothing.
 */
export const webhookFilters = `
  CREATE FUNCTION passes_filter(filter jsonb, facts jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
  DECLARE
    wants_all boolean := filter ? 'all';
    condition jsonb;
    operator text;
    is_met boolean;
    fact jsonb;
    found text[];
    wanted text[];
  BEGIN
    IF filter IS NULL THEN RETURN true; END IF;
    FOR condition IN SELECT jsonb_array_elements(filter -> CASE WHEN wants_all THEN 'all' ELSE 'any' END) LOOP
      operator := condition ->> 'operator';
      fact := facts -> (condition ->> 'attribute');
      found := CASE jsonb_typeof(fact) WHEN 'array' THEN ARRAY(SELECT jsonb_array_elements_text(fact))
        ELSE array_remove(ARRAY[fact #>> '{}'], NULL) END;
      wanted := ARRAY(SELECT jsonb_array_elements_text(coalesce(condition -> 'values', '[]')));
      is_met := CASE operator
        WHEN 'equal_to' THEN found && wanted
        WHEN 'not_equal_to' THEN NOT found && wanted
        WHEN 'is_present' THEN cardinality(found) > 0
        WHEN 'is_not_present' THEN cardinality(found) = 0
        WHEN 'contains' THEN EXISTS (
          SELECT FROM unnest(found) f, unnest(wanted) w WHERE strpos(lower(f), lower(w)) > 0)
        ELSE false END;
      IF is_met <> wants_all THEN RETURN is_met; END IF;
    END LOOP;
    RETURN wants_all;
  END $$;
`;
