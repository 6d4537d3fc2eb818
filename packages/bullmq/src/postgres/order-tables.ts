import { ORDER, OURS } from '../engine/form.ts'

/** Creates nothing if BullMQ's own tables are missing. */
export const ORDER_IS_MISSING: string = `
SELECT to_regclass('job') IS NOT NULL AND NOT EXISTS (
  SELECT FROM pg_trigger WHERE tgrelid = to_regclass('job') AND tgname = '${OURS}order_3'
) AS missing`

/** Isolation level that {@link CREATE_ORDER} needs: a statement must see the result of the one it waited for. */
export const ISOLATION = `SELECT current_setting('default_transaction_isolation') AS isolation`

const KEY = `(opts #>> '{${ORDER},key}')`
const AT = `((opts #>> '{${ORDER},at}')::bigint)`
/** States of a key's head. At most one event of a key is in any of them. */
const IS_HEAD = `state IN ('waiting', 'active', 'delayed')`
/** A state from which no worker takes a job. BullMQ's own, for the parents of other jobs. */
const BEHIND = 'waiting-children'

/**
 * Runs the events of one key one at a time. The statements that change a job's state enforce it, whoever sends them: a
 * process that dies leaves all of a change or none of it. The other events wait behind the head, so a worker that takes
 * a job never looks at keys. The key's lock comes before any change of a row with the key: an add that waits for such a
 * row may already hold the lock. Redelivering a stored event takes no lock.
 *
 * Created only if `serializeBy` is set. A single statement without parameters, and therefore one transaction.
 */
export const CREATE_ORDER: string = `
SELECT pg_advisory_xact_lock(hashtext('ackhook:tables'));

CREATE INDEX IF NOT EXISTS ${OURS}job_head_idx ON job (queue, ${KEY})
  WHERE ${IS_HEAD} AND ${KEY} IS NOT NULL;
CREATE INDEX IF NOT EXISTS ${OURS}job_behind_idx ON job (queue, ${KEY}, ${AT}, seq)
  WHERE state = '${BEHIND}' AND ${KEY} IS NOT NULL;

CREATE OR REPLACE FUNCTION ${OURS}order_job() RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
SET plan_cache_mode TO force_generic_plan
SET enable_seqscan TO off
SET jit TO off
AS $$
DECLARE
  v_job job;
  v_key text;
  v_id text;
BEGIN
  IF TG_OP = 'DELETE' THEN v_job := OLD; ELSE v_job := NEW; END IF;
  v_key := v_job.opts #>> '{${ORDER},key}';
  IF TG_OP = 'INSERT' AND EXISTS (SELECT FROM job WHERE queue = v_job.queue AND id = v_job.id) THEN
    RETURN NEW;
  END IF;
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'ackhook: the order of events needs the isolation level read committed';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('ackhook:order:' || v_job.queue || ':' || v_key, 0));

  IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.state IN ('waiting', 'delayed')) THEN
    IF EXISTS (
      SELECT FROM job WHERE queue = v_job.queue AND ${KEY} = v_key AND ${IS_HEAD} AND id <> v_job.id
    ) THEN
      -- A younger head that has not begun moves behind this job. A head that is just being taken counts as begun.
      UPDATE job SET state = '${BEHIND}' WHERE queue = v_job.queue AND id = (
        SELECT id FROM job
         WHERE queue = v_job.queue AND ${KEY} = v_key AND ${IS_HEAD} AND id <> v_job.id
           AND state = 'waiting' AND attempts_started = 0
           AND ${AT} > (v_job.opts #>> '{${ORDER},at}')::bigint
         FOR UPDATE SKIP LOCKED);
      IF NOT FOUND THEN
        NEW.state := '${BEHIND}';
      END IF;
    END IF;
    RETURN NEW;
  END IF;

  IF (TG_OP = 'DELETE' OR OLD.state NOT IN ('completed', 'failed')) AND NOT EXISTS (
    SELECT FROM job WHERE queue = v_job.queue AND ${KEY} = v_key AND ${IS_HEAD} AND id <> v_job.id
  ) THEN
    SELECT id INTO v_id FROM job
     WHERE queue = v_job.queue AND ${KEY} = v_key AND state = '${BEHIND}' AND id <> v_job.id
     ORDER BY ${AT}, seq LIMIT 1;
    IF FOUND THEN
      UPDATE job SET state = 'waiting' WHERE queue = v_job.queue AND id = v_id;
      PERFORM pg_notify('bullmq_jobs', v_job.queue);
    END IF;
  END IF;
  RETURN v_job;
END;
$$;

DROP TRIGGER IF EXISTS ${OURS}order_1 ON job;
CREATE TRIGGER ${OURS}order_1 BEFORE INSERT ON job FOR EACH ROW
  WHEN (NEW.opts ? '${ORDER}' AND NEW.state IN ('waiting', 'delayed'))
  EXECUTE FUNCTION ${OURS}order_job();
DROP TRIGGER IF EXISTS ${OURS}order_2 ON job;
CREATE TRIGGER ${OURS}order_2 BEFORE UPDATE OF state ON job FOR EACH ROW
  WHEN (NEW.opts ? '${ORDER}'
    AND (OLD.state IN ('completed', 'failed') OR NEW.state IN ('completed', 'failed')))
  EXECUTE FUNCTION ${OURS}order_job();
DROP TRIGGER IF EXISTS ${OURS}order_3 ON job;
CREATE TRIGGER ${OURS}order_3 AFTER DELETE ON job FOR EACH ROW
  WHEN (OLD.opts ? '${ORDER}' AND OLD.${IS_HEAD})
  EXECUTE FUNCTION ${OURS}order_job();`
