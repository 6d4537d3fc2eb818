/** Without BullMQ's own tables nothing is created: they may be in a schema that the search_path lacks. */
export const ARE_MISSING = `
SELECT to_regclass('job') IS NOT NULL AND (to_regclass('ackhook_remembered') IS NULL
  OR to_regprocedure('ackhook_accept(text, jsonb)') IS NULL) AS missing`

/**
 * What BullMQ's tables cannot do. An id that is remembered as a finished job takes 400 bytes with its indexes even
 * without its body, and each of BullMQ's counts reads it; a row of this table takes 210, and \`job\` holds only what is
 * left to do.
 *
 * The function adds jobs whose ids are neither jobs nor remembered, and answers what there is of each id afterwards. It
 * looks at the remembered ids before and after: an add may wait for a job that is just being replaced by its id, and would
 * then find no job in its way. Each statement of a function sees what is committed when the statement begins.
 *
 * Each statement finds its rows by queue and ids. PostgreSQL keeps the plans of a function in each connection, and a join
 * that is planned for an empty table reads all of it later, until its statistics are renewed: 6 ms an add beside 3,000 jobs,
 * where it takes 1.7 now and a bare add 0.79.
 *
 * A release that changes the function gives it another name: during a deployment processes of both run side by side.
 *
 * One statement without parameters, so that all of it is one transaction. Concurrent starts wait for each other.
 */
export const CREATE_TABLES = `
SELECT pg_advisory_xact_lock(hashtext('ackhook:tables'));

CREATE TABLE IF NOT EXISTS ackhook_remembered (
  forget_at_ms bigint NOT NULL,
  fingerprint integer NOT NULL,
  queue text NOT NULL,
  id text NOT NULL,
  token text NOT NULL,
  PRIMARY KEY (queue, id)
);
CREATE INDEX IF NOT EXISTS ackhook_remembered_forget_idx ON ackhook_remembered (queue, forget_at_ms);

CREATE OR REPLACE FUNCTION ackhook_accept(p_queue text, p_jobs jsonb)
RETURNS TABLE (id text, token text, fingerprint integer, dead boolean)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
#variable_conflict use_column
DECLARE
  v_ids text[];
  v_known text[];
  v_new jsonb;
  v_job jsonb;
BEGIN
  SELECT array_agg(one->>'id') INTO v_ids FROM jsonb_array_elements(p_jobs) AS jobs(one);
  v_known := ARRAY(SELECT r.id FROM ackhook_remembered r WHERE r.queue = p_queue AND r.id = ANY(v_ids));
  SELECT jsonb_agg(one ORDER BY ord) INTO v_new
    FROM jsonb_array_elements(p_jobs) WITH ORDINALITY AS jobs(one, ord)
   WHERE one->>'id' <> ALL(v_known);

  IF v_new IS NOT NULL THEN
    -- BullMQ's bulk insert takes as long as six single ones. perf: note 27.
    IF jsonb_array_length(v_new) < 8 THEN
      FOR v_job IN SELECT jsonb_array_elements(v_new) LOOP
        PERFORM add_job(
          p_queue, v_job->>'id', v_job->>'name', v_job->'data', v_job->'opts', 0, 0,
          (v_job->>'timestamp')::bigint, (v_job->>'attempts')::integer,
          NULL, NULL, NULL, NULL, NULL, false);
      END LOOP;
    ELSE
      PERFORM add_jobs_bulk(p_queue, v_new);
    END IF;

    v_known := ARRAY(SELECT r.id FROM ackhook_remembered r WHERE r.queue = p_queue AND r.id = ANY(v_ids));
    IF v_known <> '{}' THEN
      DELETE FROM job
       USING jsonb_array_elements(v_new) AS added(one)
       WHERE job.queue = p_queue AND job.id = ANY(v_known)
         AND job.id = one->>'id' AND job.data->>'token' = one->'data'->>'token';
    END IF;
  END IF;

  RETURN QUERY
    SELECT j.id, j.data->>'token', (j.data->>'fingerprint')::integer, j.state = 'failed'
      FROM job j WHERE j.queue = p_queue AND j.id = ANY(v_ids)
    UNION ALL
    SELECT r.id, r.token, r.fingerprint, false
      FROM ackhook_remembered r WHERE r.queue = p_queue AND r.id = ANY(v_ids);
END;
$$`
