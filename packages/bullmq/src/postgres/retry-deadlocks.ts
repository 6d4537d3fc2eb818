/** What runs each of BullMQ's operations on PostgreSQL, which are one statement each. */
interface Backend {
  query(text: string, params?: readonly unknown[]): Promise<unknown>
}

const TRIES = 5
/** Deadlock detected; serialization failure, where that is how the database is set. */
const UNDONE: ReadonlySet<unknown> = new Set(['40P01', '40001'])
const MOST_WAIT_MS = 50

/**
 * PostgreSQL ends one of two statements that wait for each other, and all that it did is undone. BullMQ's do so now and
 * then: the end of a job also wakes the jobs that are due, in no fixed order. BullMQ takes it for a failure of the
 * server, and a job whose end was not recorded runs again when its lease has lapsed. Here it is repeated instead.
 */
export function repeatDeadlocked(backend: object): void {
  const query = (backend as Backend).query.bind(backend)
  async function repeated(text: string, params?: readonly unknown[]): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      try {
        return await query(text, params)
      } catch (error) {
        if (tries === TRIES || !UNDONE.has((error as { readonly code?: unknown }).code)) throw error
        await new Promise(resolve => setTimeout(resolve, Math.random() * MOST_WAIT_MS))
      }
    }
  }
  Object.defineProperty(backend, 'query', { value: repeated })
}
