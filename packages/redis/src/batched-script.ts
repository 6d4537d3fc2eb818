import { AckhookError } from '@ackhook/core'
import type { Timeout, Timeouts } from '@ackhook/core/spi'
import { isError } from '@ackhook/core/spi'
import type { Permit } from './breaker.ts'
import {
  type Commands,
  type Confirmation,
  confirmedByReplicas,
  UnconfirmedError,
} from './confirmed-by-replicas.ts'
import { isConnectionError, isRefused } from './is-connection-error.ts'
import type { Connection, Links } from './links.ts'
import type { RedisClient } from './redis-client.ts'
import { OUTCOME, type Reply, runScript, type Script, toReply } from './scripts.ts'

export interface ScriptParts {
  readonly links: Pick<Links, 'of'>
  /** True for Redis Cluster, where a command may only name keys of one slot. */
  readonly isCluster: boolean
  /** One timer for all commands. perf: note 18. */
  readonly timeouts: Timeouts
  /** Set if replicas must confirm what this script writes. */
  readonly confirmation?: Confirmation | undefined
  /** A faster way to run the script for a single key. */
  readonly runSingle?: (client: Commands, key: string, args: readonly string[]) => Promise<Reply>
}

interface Call {
  readonly key: string
  readonly args: readonly string[]
  readonly undo: (() => void) | undefined
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

/** One command under way. */
interface Command {
  readonly calls: readonly Call[]
  readonly permit: Permit
  readonly connection: Connection
  timeout?: Timeout
  /** True once its calls are settled, by a reply, a failure or the timeout. */
  settled: boolean
}

/** Redis serves no other client while a script runs, so further calls go in another command. */
const MAX_CALLS_PER_COMMAND = 100

/**
 * Runs one of the store's scripts. Sends a single call immediately; while a command is under way, sends all calls of a
 * tick in one command.
 */
export class BatchedScript {
  readonly #script: Script
  readonly #parts: ScriptParts
  readonly #maxCalls: number
  #waiting: Call[] = []
  /** Commands that are not settled. */
  #underWay = 0

  constructor(script: Script, parts: ScriptParts) {
    this.#script = script
    this.#parts = parts
    // Two ids share a slot only by chance.
    this.#maxCalls = parts.isCluster ? 1 : MAX_CALLS_PER_COMMAND
  }

  /**
   * Returns the script's numbers for this key. Rejects with `store_unavailable` after the timeout, if the client fails,
   * and immediately while the breaker is open. `undo` is called after a rejection whenever Redis may have claimed the key:
   * without a reply, and when a reply says so later.
   */
  run(key: string, args: readonly string[], undo?: () => void): Promise<Reply> {
    return new Promise((resolve, reject) => this.#add({ key, args, undo, resolve, reject }))
  }

  #add(call: Call): void {
    this.#waiting.push(call)
    const { length } = this.#waiting
    if (length >= this.#maxCalls || (this.#underWay === 0 && length === 1)) this.#flush()
    // Sends once this event-loop turn's requests are read, before waiting for more.
    else if (length === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const calls = this.#waiting
    this.#waiting = []
    this.#send(calls)
  }

  #send(calls: readonly Call[]): void {
    const { links, timeouts } = this.#parts
    const link = links.of((calls as [Call])[0].key)
    const permit = link.enter()
    if (permit === undefined) {
      rejectAll(calls, 'Redis is not responding; the next attempt follows within a second', link.cause)
      return
    }
    const { connection } = link
    this.#underWay++
    const command: Command = { calls, permit, connection, settled: false }
    // Polls the network once more: a reply may have arrived in time while this process was blocked.
    command.timeout = timeouts.set(() => setImmediate(() => this.#expire(command)))
    this.#execute(connection.client, calls).then(
      reply => this.#succeed(command, reply),
      cause => this.#fail(command, cause),
    )
  }

  #execute(client: RedisClient, calls: readonly Call[]): Promise<Reply> {
    const { runSingle, confirmation } = this.#parts
    const commands = confirmation === undefined ? client : confirmedByReplicas(client, confirmation)
    const [first] = calls as [Call]
    if (calls.length === 1 && runSingle !== undefined) return runSingle(commands, first.key, first.args)
    const keys = calls.map(({ key }) => key)
    const args = calls.flatMap(call => call.args)
    return runScript(commands, this.#script, keys, args)
  }

  #succeed(command: Command, reply: Reply): void {
    const { calls, permit } = command
    permit.succeeded()
    const inTime = this.#settle(command)
    for (const [i, call] of calls.entries()) {
      const own = this.#partOf(reply, i, calls.length)
      if (inTime) call.resolve(own)
      else undo(call, own)
    }
  }

  /** Returns the reply to one of a command's calls. */
  #partOf(reply: Reply, i: number, count: number): Reply {
    const { width } = this.#script
    return count === 1 ? reply : reply.slice(i * width, (i + 1) * width)
  }

  #expire(command: Command): void {
    this.#fail(command, new Error(`redisStore.${this.#script.name} did not respond in time`))
  }

  #fail(command: Command, failure: unknown): void {
    const { calls, permit, connection } = command
    const isNew = this.#settle(command)
    if (failure instanceof UnconfirmedError) this.#undo(command, failure)
    // Redis may have made the write, or may still make it. A second failure of the same command tells nothing new.
    else if (isNew && isConnectionError(failure)) for (const call of calls) call.undo?.()
    if (!isNew) return
    const cause = connection.reason.of(failure)
    // Tests `failure`, not `cause`: a client that the server refuses gets no reply either.
    if (isConnectionError(failure) || (connection.isOwn && isRefused(failure))) permit.failed(cause)
    else permit.succeeded()
    if (calls.length > 1 && isOfOneKey(cause)) {
      // Repeating a call is safe, because it carries its own token. Only a repeated release reports that the lease is
      // gone, which is true.
      for (const call of calls) this.#send([call])
      return
    }
    rejectAll(calls, isError(cause) ? cause.message : String(cause), cause)
  }

  /** Releases what Redis has claimed although too few replicas know it: the sender gets 503, and repeats the event. */
  #undo({ calls }: Command, { reply }: UnconfirmedError): void {
    const numbers = toReply(reply)
    for (const [i, call] of calls.entries()) undo(call, this.#partOf(numbers, i, calls.length))
  }

  /** Returns `false` if the command was already settled. */
  #settle(command: Command): boolean {
    if (command.settled) return false
    command.settled = true
    command.timeout?.cancel()
    this.#underWay--
    return true
  }
}

function undo(call: Call, [outcome]: Reply): void {
  if (outcome === OUTCOME.claimed) call.undo?.()
}

/** Returns whether only one key fails, with a value of another type or new to a full Redis: the others must not. */
function isOfOneKey(cause: unknown): boolean {
  return cause instanceof Error && /WRONGTYPE|OOM/.test(cause.message)
}

function rejectAll(calls: readonly Call[], message: string, cause: unknown): void {
  const error = new AckhookError('store_unavailable', message, { cause })
  for (const { reject } of calls) reject(error)
}
