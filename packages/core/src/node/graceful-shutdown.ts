import { ConfigurationError } from '../errors/errors.ts'
import type { Duration } from '../errors/parse-duration.ts'
import { oneOf, refuseNull, refuseUnknownNames } from '../lib/check-option.ts'
import { withDeadline } from '../lib/deadline.ts'
import { durationMs } from '../lib/duration.ts'
import { lazyKind, NOT_LAZY, refuseGenerator } from '../lib/lazy-value.ts'
import type { Logger } from '../observe/logger.ts'
import { isDevelopment } from '../platform/node/is-development.ts'
import { warnOfEndingHost } from '../receiver/ending-host.ts'
import { type InspectedReceiver, inspectReceiver } from '../receiver/inspect.ts'
import type { Receiver } from '../receiver/receiver.ts'
import { type ClosableServer, ServerCloser } from './server-closer.ts'

/** Options of {@link gracefulShutdown}. */
export interface GracefulShutdownOptions {
  /**
   * Time for which deliveries are still accepted after the signal while readiness is already off, so that a load
   * balancer can notice and send elsewhere. Default `'5s'`. Skipped on SIGINT, which comes from a terminal, and in
   * development: with `NODE_ENV=development`, below a watcher such as `node --watch`, or with a terminal as standard
   * input, unless `NODE_ENV` is `production`.
   */
  readonly grace?: Duration | undefined
  /**
   * Time limit from the signal to the end, including `grace`. Must be shorter than the orchestrator's. Default `'25s'`.
   */
  readonly timeout?: Duration | undefined
  /**
   * Signals that start the shutdown. Default `['SIGTERM', 'SIGINT']`, and in development SIGUSR2 too, with which nodemon
   * restarts a process. With an empty list nothing starts it or ends the
   * process: call the returned function from your own shutdown hook.
   */
  readonly signals?: readonly ('SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGQUIT' | 'SIGUSR2')[] | undefined
  /** Closes resources that are no longer used: clients of stores, databases, telemetry. */
  readonly cleanup?: (() => unknown) | undefined
}

/** Report of a shutdown. All counts are 0 after a clean one. */
export interface ShutdownReport {
  /** Acknowledged events lost with the process. */
  readonly lost: number
  /** Events whose handlers still ran, or whose completion could not be recorded, when the drain's time was over. */
  readonly cut: number
  /** Connections that were cut. */
  readonly connections: number
  /** Steps that failed or took too long: `'drain'`, `'cleanup'`. */
  readonly failed: readonly string[]
}

/**
 * Starts the receivers once the server listens, and ends the process without failing a delivery. The start is tried
 * again until it succeeds. A worker process passes no `server`: it starts in the next turn of the event loop. Register
 * every handler before.
 *
 * On a signal it turns readiness off, keeps accepting for `grace`, drains the receiver, closes the server and its idle
 * connections, runs `cleanup`, and exits with 0. Anything left after `timeout` is logged, and the process exits with 1. A
 * second signal changes nothing. Returns a function that does the same without a signal, and without ending the process.
 * Throws `ConfigurationError` for an invalid option.
 *
 * @example
 * const server = app.listen(3000)
 * gracefulShutdown(hooks, server, { cleanup: () => redis.quit() })
 */
export function gracefulShutdown(
  receiver: Stoppable | readonly Stoppable[],
  server?: ClosableServer,
  options: GracefulShutdownOptions = {},
): () => Promise<ShutdownReport> {
  const receivers = [receiver].flat()
  if (receivers.length === 0)
    throw new ConfigurationError('receiver', 'is an empty list: pass every receiver of this process')
  const shutdown = new Shutdown(
    receivers,
    server === undefined ? undefined : new ServerCloser(server),
    resolveOptions(options),
  )
  for (const signal of options.signals ?? defaultSignals()) {
    process.on(signal, () => void shutdown.endProcess(signal))
  }
  shutdown.startReceivers()
  return () => shutdown.run()
}

type Stoppable = Pick<Receiver<never, never>, 'close'>

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const

/** nodemon restarts a process with SIGUSR2, which cuts every handler if nothing listens. */
function defaultSignals(): readonly (typeof SIGNALS)[number][] {
  return isDevelopment() ? ['SIGTERM', 'SIGINT', 'SIGUSR2'] : ['SIGTERM', 'SIGINT']
}

/** Share of the timeout that the drain leaves for the later steps. */
const SHARE_OF_THE_REST = 0.2
const MAX_REST_MS = 3000

interface Settings {
  readonly graceMs: number
  readonly timeoutMs: number
  readonly cleanup: () => unknown
}

function resolveOptions(options: GracefulShutdownOptions): Settings {
  refuseUnknownNames(
    options,
    ['grace', 'timeout', 'signals', 'cleanup'],
    '',
    "{ grace: '5s', timeout: '25s' }",
  )
  refuseNull(options)
  refuseGenerator('cleanup', options.cleanup)
  for (const signal of options.signals ?? []) oneOf('signals', signal, SIGNALS)
  const timeoutMs = durationMs(options.timeout ?? '25s', { option: 'timeout', minMs: 100, maxMs: 3_600_000 })
  const preset: Duration = timeoutMs < 10_000 ? '0s' : '5s'
  const graceMs = durationMs(options.grace ?? preset, { option: 'grace', minMs: 0, maxMs: timeoutMs })
  return { graceMs, timeoutMs, cleanup: options.cleanup ?? (() => {}) }
}

function refuseUnfinished(returned: unknown): void {
  const what = lazyKind(returned)
  if (what !== undefined)
    throw new TypeError(
      `The option 'cleanup' returned ${what}, which nothing runs or waits for: ${NOT_LAZY}.`,
    )
}

/** One shutdown of one process. */
class Shutdown {
  readonly #receivers: readonly Stoppable[]
  readonly #inspected: readonly InspectedReceiver[]
  readonly #server: ServerCloser | undefined
  readonly #settings: Settings
  /** In development no load balancer has to notice anything, and a watcher kills a process that takes seconds. */
  readonly #isDevelopment = isDevelopment()
  #running: Promise<ShutdownReport> | undefined

  constructor(receivers: readonly Stoppable[], server: ServerCloser | undefined, settings: Settings) {
    this.#receivers = receivers
    this.#inspected = receivers.map(inspectReceiver)
    this.#server = server
    this.#settings = settings
  }

  /** A worker process has no server that would keep it alive until its inbox can be reached. */
  startReceivers(): void {
    const keepsProcess = this.#server === undefined
    const start = (): void => {
      for (const one of this.#inspected) one.keepStarting({ keepsProcess })
    }
    if (this.#server === undefined) setImmediate(start)
    else this.#server.onListening(start)
  }

  /** Never rejects. A second call returns the first one's report. */
  run(signal?: string): Promise<ShutdownReport> {
    this.#running ??= this.#run(signal)
    return this.#running
  }

  async endProcess(signal: string): Promise<void> {
    if (this.#running !== undefined) return
    const { lost, cut, connections, failed } = await this.run(signal)
    // The default logger prints at the end of a turn.
    await new Promise(resolve => setImmediate(resolve))
    process.exit(lost + cut + connections + failed.length > 0 ? 1 : 0)
  }

  async #run(signal = 'shutdown'): Promise<ShutdownReport> {
    const { graceMs, timeoutMs, cleanup } = this.#settings
    const endsAt = performance.now() + timeoutMs
    const leftMs = (): number => Math.max(0, Math.ceil(endsAt - performance.now()))
    const restMs = Math.min(MAX_REST_MS, timeoutMs * SHARE_OF_THE_REST)
    const failed: string[] = []
    const inTime = async <T>(step: string, work: () => T | Promise<T>): Promise<T | undefined> => {
      try {
        return await withDeadline(Promise.resolve().then(work), { operation: step, ms: leftMs() })
      } catch (err) {
        failed.push(step)
        this.#logger.error({ code: 'shutdown_incomplete', err }, `The shutdown step '${step}' failed.`)
        return undefined
      }
    }

    warnOfEndingHost(this.#logger, timeoutMs)
    for (const receiver of this.#inspected) receiver.beginStop()
    this.#server?.endKeepAlive()
    if (signal !== 'SIGINT' && this.#server !== undefined && !this.#isDevelopment)
      await new Promise(resolve => setTimeout(resolve, graceMs))
    const timeout: Duration = `${Math.max(0, Math.ceil(leftMs() - restMs))}ms`
    const reports = await inTime('drain', () =>
      Promise.all(this.#receivers.map(one => one.close({ timeout }))),
    )
    const lost = (reports ?? []).reduce((sum, report) => sum + report.lost, 0)
    const cut = (reports ?? []).reduce((sum, report) => sum + (report.cut ?? 0), 0)
    const connections = (await this.#server?.close(leftMs() / 2)) ?? 0
    await inTime('cleanup', async () => refuseUnfinished(await cleanup()))
    this.#report(signal, { lost, cut, connections, failed })
    return { lost, cut, connections, failed }
  }

  #report(signal: string, { lost, cut, connections, failed }: ShutdownReport): void {
    if (lost + cut + connections + failed.length === 0) {
      this.#logger.info({ signal }, 'The shutdown is complete.')
      return
    }
    const left = [
      ...(lost > 0 ? [`${lost} acknowledged events are lost`] : []),
      ...(cut > 0 ? [`${cut} events were cut short`] : []),
      ...(connections > 0 ? [`${connections} connections were cut`] : []),
      ...failed.map(step => `'${step}' did not finish`),
    ]
    const isOnlyCut = lost + connections + failed.length === 0
    this.#logger[isOnlyCut ? 'warn' : 'error'](
      { code: 'shutdown_incomplete', signal, lost, cut, connections, failed },
      `The shutdown is incomplete: ${left.join(', ')}. Raise its timeout, and set the orchestrator's longer still.`,
    )
  }

  get #logger(): Logger {
    return (this.#inspected[0] as InspectedReceiver).logger
  }
}
