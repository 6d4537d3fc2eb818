import { AckhookError } from '@ackhook/core'
import type { Breaker } from './breaker.ts'
import { meansUnavailable } from './errors.ts'
import type { RedisClient } from './redis-client.ts'
import type { Script } from './scripts.ts'
import { runScript } from './scripts.ts'
import type { Deadlines } from './timeouts.ts'

export interface LineParts {
  readonly client: RedisClient
  readonly breaker: Breaker
  readonly deadlines: Deadlines
  /** A quicker way to what the script does, for a call that travels alone. */
  readonly alone?: (client: RedisClient, key: string, args: readonly string[]) => Promise<Answer>
}

/**
 * One verb of the store. A call on its own is sent at once; while one is under way, every call of one tick
 * travels in one command.
 */
export interface ScriptLine {
  /**
   * The script's numbers for this key. Rejects with `store_unavailable` after the deadline, when the client
   * fails, and at once while the breaker is open. `late` gets an answer that came after the deadline.
   */
  ask(key: string, args: readonly string[], late?: (answer: Answer) => void): Promise<Answer>
}

export type Answer = readonly number[]

interface Call {
  readonly key: string
  readonly args: readonly string[]
  readonly late: ((answer: Answer) => void) | undefined
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** Redis serves nobody else while a script runs: more calls than these go in another command. */
const MOST_IN_ONE_COMMAND = 100

export function createScriptLine(script: Script, parts: LineParts): ScriptLine {
  const { client, breaker, deadlines, alone } = parts
  // A command for Redis Cluster may only name keys of one slot, and two ids share one only by chance.
  const most = client.isCluster === true ? 1 : MOST_IN_ONE_COMMAND
  let waiting: Call[] = []
  let underWay = 0

  function add(call: Call): void {
    waiting.push(call)
    if (waiting.length >= most || (underWay === 0 && waiting.length === 1)) flush()
    // After the requests that this turn of the event loop reads, and before it waits for more.
    else if (waiting.length === 1) setImmediate(flush)
  }

  function flush(): void {
    if (waiting.length === 0) return
    const calls = waiting
    waiting = []
    send(calls)
  }

  function send(calls: readonly Call[]): void {
    const attempt = breaker.enter()
    if (attempt === undefined) {
      refuse(calls, 'Redis is not answering; it is asked again within a second', breaker.cause)
      return
    }
    underWay++
    const fail = (cause: unknown) => {
      underWay--
      if (meansUnavailable(cause)) attempt.failed(cause)
      else attempt.succeeded()
      if (calls.length > 1 && isOfOneKey(cause)) {
        // What is done already is done again: each verb knows its own token, and only a release then answers that
        // the lease is no longer there, as it is.
        for (const call of calls) send([call])
        return
      }
      refuse(calls, cause instanceof Error ? cause.message : String(cause), cause)
    }
    const deadline = deadlines.start(() =>
      fail(new Error(`redisStore.${script.name} did not answer in time`)),
    )
    run(calls).then(
      answers => {
        attempt.succeeded()
        const inTime = deadline.met()
        if (inTime) underWay--
        for (let i = 0; i < calls.length; i++) {
          const call = calls[i] as Call
          const answer = calls.length === 1 ? answers : partOf(answers, i)
          if (inTime) call.resolve(answer)
          else call.late?.(answer)
        }
      },
      cause => {
        if (deadline.met()) fail(cause)
      },
    )
  }

  function run(calls: readonly Call[]): Promise<Answer> {
    const [first] = calls as [Call]
    if (calls.length === 1 && alone !== undefined) return alone(client, first.key, first.args)
    const keys = calls.map(({ key }) => key)
    const args = calls.flatMap(call => call.args)
    return runScript(client, script, keys, args)
  }

  function partOf(answers: Answer, i: number): Answer {
    return answers.slice(i * script.width, (i + 1) * script.width)
  }

  return {
    ask: (key, args, late) => new Promise((resolve, reject) => add({ key, args, late, resolve, reject })),
  }
}

/** Something else is at one of the keys: the other calls are not to fail with it. */
function isOfOneKey(cause: unknown): boolean {
  return cause instanceof Error && cause.message.includes('WRONGTYPE')
}

function refuse(calls: readonly Call[], message: string, cause: unknown): void {
  const error = new AckhookError('store_unavailable', message, { cause })
  for (const { reject } of calls) reject(error)
}
