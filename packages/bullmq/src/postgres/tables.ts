import { OURS } from '../engine/form.ts'

/** Creates nothing if BullMQ's own tables are missing: they may be in a schema outside the search_path. */
export const ARE_MISSING: string = `
SELECT to_regclass('job') IS NOT NULL AND (to_regclass('${OURS}remembered') IS NULL
  OR to_regprocedure('${OURS}accept_jobs(text, jsonb)') IS NULL) AS missing`

/**
 * Creates a table of remembered ids and a function that adds jobs. Even without its body, a finished job that only
 * remembers an id takes 400 bytes with its indexes, and each of BullMQ's counts reads it. A row of this table takes 210
 * bytes, and `job` holds unfinished work only.
 *
 * The function adds jobs whose ids are neither jobs nor remembered, and returns the state of each id afterwards. It
 * reads the remembered ids both before and after the add: the add may wait for a job that is just being replaced by its
 * id, find it gone, and add another. Each statement of a function sees the data committed when it begins. An id
 * whose job is replaced between the last two statements is in neither result, and is looked up again.
 *
 * PostgreSQL keeps a function's plans in each connection. It would plan a list of ids anew at each call, and a plan
 * made while the table was small may later read all of it. So each id is looked up separately, behind `OFFSET 0`, which
 * keeps the planner from joining the whole table, and plans are made once. `jit` is off because the costs of unanalyzed
 * tables, such as BullMQ's temporary ones, look high enough for the statement to be compiled. perf: note 38.
 *
 * A single statement without parameters, and therefore one transaction. Concurrent starts wait for each other.
 */
export const CREATE_TABLES: string = `
SELECT pg_advisory_xact_lock(hashtext('ackhook:tables'));

CREATE TABLE IF NOT EXISTS ${OURS}remembered (
  forget_at_ms bigint NOT NULL,
  fingerprint integer NOT NULL,
  queue text NOT NULL,
  id text NOT NULL,
  token text NOT NULL,
  -- For operators. Null in a row that names an unreadable job.
  handled_at_ms bigint,
  PRIMARY KEY (queue, id)
);
CREATE INDEX IF NOT EXISTS ${OURS}remembered_forget_idx ON ${OURS}remembered (queue, forget_at_ms);

CREATE OR REPLACE FUNCTION ${OURS}accept_jobs(p_queue text, p_jobs jsonb)
RETURNS TABLE (id text, token text, fingerprint integer, dead boolean)
LANGUAGE plpgsql
SET search_path FROM CURRENT
SET plan_cache_mode TO force_generic_plan
SET enable_seqscan TO off
SET jit TO off
AS $$
#variable_conflict use_column
DECLARE
  v_ids text[] := ARRAY(SELECT one->>'id' FROM jsonb_array_elements(p_jobs) AS jobs(one));
  v_known text[];
  v_new jsonb := p_jobs;
  v_job jsonb;
BEGIN
  v_known := ARRAY(
    SELECT r.id FROM unnest(v_ids) AS ids(one)
     CROSS JOIN LATERAL (
       SELECT id FROM ${OURS}remembered WHERE queue = p_queue AND id = one OFFSET 0
     ) AS r);
  IF v_known <> '{}' THEN
    SELECT jsonb_agg(one ORDER BY ord) INTO v_new
      FROM jsonb_array_elements(p_jobs) WITH ORDINALITY AS jobs(one, ord)
     WHERE one->>'id' <> ALL(v_known);
  END IF;

  -- BullMQ's bulk insert takes as long as six single ones. perf: note 27.
  IF jsonb_array_length(v_new) >= 8 THEN
    PERFORM add_jobs_bulk(p_queue, v_new);
  ELSIF v_new IS NOT NULL THEN
    FOR v_job IN SELECT jsonb_array_elements(v_new) LOOP
      PERFORM add_job(
        p_queue, v_job->>'id', v_job->>'name', v_job->'data', v_job->'opts', 0, 0,
        (v_job->>'timestamp')::bigint, (v_job->>'attempts')::integer,
        NULL, NULL, NULL, NULL, NULL, false);
    END LOOP;
  END IF;

  RETURN QUERY
    SELECT r.* FROM unnest(v_ids) AS ids(one)
     CROSS JOIN LATERAL (
       SELECT id, token, fingerprint, false FROM ${OURS}remembered WHERE queue = p_queue AND id = one OFFSET 0
     ) AS r;
  IF FOUND AND v_new IS NOT NULL THEN
    FOR v_job IN SELECT jsonb_array_elements(v_new) LOOP
      DELETE FROM job USING ${OURS}remembered r
       WHERE job.queue = p_queue AND job.id = v_job->>'id' AND job.data->>'token' = v_job->'data'->>'token'
         AND r.queue = p_queue AND r.id = v_job->>'id';
    END LOOP;
  END IF;
  RETURN QUERY
    SELECT j.* FROM unnest(v_ids) AS ids(one)
     CROSS JOIN LATERAL (
       SELECT id, data->>'token', (data->>'fingerprint')::integer, state = 'failed'
         FROM job WHERE queue = p_queue AND id = one OFFSET 0
     ) AS j;
END;
$$`
