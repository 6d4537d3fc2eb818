import { AckhookError, withDeadline } from '@ackhook/core'
import type { Breaker } from './breaker.ts'
import type { RedisClient } from './redis-client.ts'
import { runScript } from './run-script.ts'
import type { Script } from './scripts.ts'

export interface LineParts {
  readonly client: RedisClient
  readonly breaker: Breaker
  readonly timeoutMs: number
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

export function createScriptLine(script: Script, { client, breaker, timeoutMs }: LineParts): ScriptLine {
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
    void send(calls)
  }

  async function send(calls: readonly Call[]): Promise<void> {
    const attempt = breaker.enter()
    if (attempt === undefined) {
      const error = unavailable('Redis is not answering; it is asked again within a second', breaker.cause)
      for (const { reject } of calls) reject(error)
      return
    }
    const keys = calls.map(({ key }) => key)
    const args = calls.flatMap(call => call.args)
    underWay++
    try {
      const answers = await withDeadline(runScript(client, script, keys, args), {
        operation: `redisStore.${script.name}`,
        ms: timeoutMs,
        late(lateAnswers) {
          attempt.succeeded()
          for (const [i, call] of calls.entries()) call.late?.(partOf(lateAnswers, i))
        },
      })
      attempt.succeeded()
      for (const [i, call] of calls.entries()) call.resolve(partOf(answers, i))
    } catch (cause) {
      attempt.failed(cause)
      const error = unavailable(cause instanceof Error ? cause.message : String(cause), cause)
      for (const { reject } of calls) reject(error)
    } finally {
      underWay--
    }
  }

  function partOf(answers: readonly number[], i: number): Answer {
    return answers.slice(i * script.width, (i + 1) * script.width)
  }

  return {
    ask: (key, args, late) => new Promise((resolve, reject) => add({ key, args, late, resolve, reject })),
  }
}

function unavailable(message: string, cause: unknown): AckhookError {
  return new AckhookError('store_unavailable', message, { cause })
}
