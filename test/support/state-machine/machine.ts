import {
  AckhookError,
  createReceiver,
  type Inbox,
  NonRetryableError,
  type Observation,
  type Receiver,
  RetryAfterError,
} from '@ackhook/core'
import { tapReceiver } from '@ackhook/testing/spi'
import { eventBody, SECRET, signedRequest } from '../receiving.ts'
import { Account, Ledger } from './account.ts'

/** The system that a machine drives. */
export interface MachineTarget {
  /** Creates an inbox for one more process on this run's events. */
  createInbox(): Inbox
  /** Lets whole milliseconds pass: fake timers never reach a fraction. */
  pass(ms: number): Promise<void>
  /** Stops all faults. */
  calmDown?(): void
  readonly durable: boolean
  readonly serializes: boolean
  readonly acknowledge: 'immediately' | 'after-processing'
  /** True if only handlers and observers fail: then each event completes once each time that its id is free. */
  readonly reliable: boolean
}

interface Member {
  readonly receiver: Receiver
  readonly inbox: Inbox
  readonly account: Account
}

interface Sent {
  readonly body: string
  readonly key: string | undefined
  /** True if the last reply was a 2xx. */
  acknowledged: boolean
  /** True if any reply was a 2xx. */
  promised: boolean
  /** Number of times that its id was forgotten on request. */
  forgotten: number
}

const ACTIONS = 60
const MAX_PASS_MS = 150
const ROUNDS = 400

/**
 * Drives two processes on shared events, with repeating senders, realistic handlers, drains, restarts, redrives and
 * throwing observers, in an order that is the same for the same random numbers.
 */
export class StateMachine {
  readonly ledger = new Ledger()
  readonly #target: MachineTarget
  readonly #random: () => number
  readonly #sent = new Map<string, Sent>()
  readonly #pending = new Set<Promise<unknown>>()
  readonly #all: Member[] = []
  #members: Member[] = []
  /** True while handlers and observers misbehave. */
  #isWild = true

  constructor(target: MachineTarget, random: () => number) {
    this.#target = target
    this.#random = random
  }

  /** Returns the ids of all sent events. */
  get ids(): readonly string[] {
    return [...this.#sent.keys()]
  }

  /** Plays the run to its end. The ledger lists violations. */
  async run(): Promise<void> {
    this.#members = [await this.#newMember(), await this.#newMember()]
    for (let action = 0; action < ACTIONS; action++) {
      await this.#act()
      await this.#target.pass(this.#int(MAX_PASS_MS))
    }
    this.#isWild = false
    this.#target.calmDown?.()
    await this.#settle()
    await this.#checkResults()
    for (const member of this.#members) await this.#close(member, 10_000)
    this.#checkPromises()
  }

  async #act(): Promise<void> {
    const dice = this.#random()
    const member = this.#pick(this.#members)
    if (dice < 0.6) this.#send(member, this.#newId())
    else if (dice < 0.78) this.#send(member, this.#pick(this.ids) ?? this.#newId())
    else if (dice < 0.86)
      this.#background(this.#redrive(member).catch(error => this.#unlessClosed(member, error)))
    else if (dice < 0.9) this.#background(this.#forget(member))
    else if (dice < 0.98) await this.#restart(member)
  }

  #newId(): string {
    const id = `evt_${this.#sent.size}`
    const key = this.#target.serializes && this.#random() < 0.6 ? `key_${this.#int(3)}` : undefined
    const created_at = new Date(Date.UTC(2026, 0, 1) + this.#int(10) * 1000).toISOString()
    const body = eventBody({ id, type: `a.${this.#int(3)}`, created_at, data: { key } })
    this.#sent.set(id, { body, key, acknowledged: false, promised: false, forgotten: 0 })
    return id
  }

  /** Sends like the platform, which repeats events without a 2xx, and sometimes others. */
  #send({ receiver }: Member, id: string): void {
    const sent = this.#sent.get(id)
    if (sent === undefined) return
    this.#background(
      receiver.handle(signedRequest(sent.body)).then(({ status }) => {
        sent.acknowledged = status < 300
        sent.promised ||= status < 300
      }),
    )
  }

  async #redrive({ receiver, account }: Member): Promise<void> {
    const [letter] = await receiver.deadLetters.list({
      limit: 1,
      order: this.#random() < 0.5 ? 'newest' : 'oldest',
    })
    if (letter === undefined) return
    const { id } = letter
    const ends = account.ends.get(id)
    const isRunning = await receiver.deadLetters.redrive(id)
    // The event may have run by now.
    if (isRunning && this.#target.acknowledge === 'immediately' && account.ends.get(id) === ends)
      account.owed.add(id)
  }

  /** Rethrows an error, unless the process is closing and may refuse calls. */
  #unlessClosed(member: Member, error: unknown): void {
    if (this.#members.includes(member)) throw error
  }

  async #forget({ receiver }: Member): Promise<void> {
    const id = this.#pick(this.ids)
    const sent = this.#sent.get(id ?? '')
    if (id === undefined || sent === undefined) return
    // Counts before the reply, which may arrive after the next delivery or be lost.
    sent.forgotten++
    await receiver.forget(id).catch(() => false)
  }

  /** Drains a process, and starts the next one in parallel. */
  async #restart(member: Member): Promise<void> {
    const closed = this.#close(member, this.#int(300))
    this.#background(closed)
    this.#members = this.#members.filter(one => one !== member)
    this.#members.push(await this.#newMember())
  }

  async #close(member: Member, timeoutMs: number): Promise<void> {
    const { receiver, account } = member
    const closing = receiver.close({ timeout: `${timeoutMs}ms` })
    this.#background(closing)
    const { lost } = await this.#whilePassing(closing)
    const owed = account.owed.size + account.lostDead
    if (this.#target.durable ? lost !== 0 : lost !== owed)
      this.ledger.violate(`a drain reported ${lost} lost; ${owed} were: ${[...account.owed].join(', ')}`)
  }

  async #newMember(): Promise<Member> {
    const inbox = this.#target.createInbox()
    const account = new Account(`process ${this.#all.length}`, this.ledger, {
      keyOf: id => this.#sent.get(id)?.key,
      sharesOrder: this.#target.durable,
    })
    const { acknowledge, serializes } = this.#target
    const receiver = createReceiver({
      secret: SECRET,
      inbox,
      acknowledge,
      concurrency: 3,
      capacity: 15,
      handlerTimeout: '300ms',
      ...(acknowledge === 'immediately' && { retry: { attempts: 3, minDelay: '10ms', maxDelay: '80ms' } }),
      ...(serializes && { serializeBy: ({ data }) => (data as { key?: string }).key }),
      logger: { info() {}, warn() {}, error() {} },
      observe: one => this.#observe(account, one),
    })
    receiver.on('*', (event, { signal }) => this.#handle(event.id, signal))
    receiver.onDeadLetter(() => this.#misbehave(0.4))
    tapReceiver(receiver, attempt => account.ended(attempt))
    const member = { receiver: receiver as Receiver, inbox, account }
    this.#all.push(member)
    await this.#whilePassing(receiver.start())
    return member
  }

  #observe(account: Account, observation: Observation): void {
    account.observe(observation)
    this.#misbehave()
  }

  #misbehave(howOften = 0.05): void {
    if (this.#isWild && this.#random() < howOften) throw new Error('an observer or a listener failed')
  }

  #handle(id: string, signal: AbortSignal): Promise<void> | void {
    const dice = this.#isWild ? this.#random() : 0
    if (dice < 0.4) return undefined
    if (dice < 0.7) return new Promise(resolve => setTimeout(resolve, this.#int(80)))
    if (dice < 0.82) throw new Error(`${id} failed`)
    if (dice < 0.86) throw new NonRetryableError(`${id} will never work`)
    if (dice < 0.9) throw new RetryAfterError(`${id} asked for later`, '40ms')
    // An error from another aborted attempt says nothing about this one.
    if (dice < 0.94) throw new AckhookError('lease_lost', 'of another event')
    // Ends some time after its limit: until then the event keeps its turn.
    if (dice < 0.97) {
      const late = this.#int(80)
      return new Promise(resolve => signal.addEventListener('abort', () => setTimeout(resolve, late)))
    }
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }

  /** Waits until every event is acknowledged and none waits or runs. */
  async #settle(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      for (const id of this.ids)
        if (this.#sent.get(id)?.acknowledged === false) this.#send(this.#pick(this.#members), id)
      await this.#target.pass(MAX_PASS_MS)
      if (this.#pending.size === 0 && (await this.#isIdle())) return
    }
    this.ledger.violate(
      `not settled: ${this.#pending.size} calls are under way, ${JSON.stringify(await this.#stats())}`,
    )
  }

  async #isIdle(): Promise<boolean> {
    if (this.ids.some(id => this.#sent.get(id)?.acknowledged === false)) return false
    const stats = await this.#stats()
    return stats.every(({ pending, active }) => pending === 0 && active === 0)
  }

  #stats() {
    return this.#whilePassing(Promise.all(this.#members.map(({ receiver }) => receiver.stats())))
  }

  async #checkResults(): Promise<void> {
    for (const { account } of this.#all)
      for (const one of account.running) this.ledger.violate(`${one} began and never ended`)
    const letters = await Promise.all(this.#all.map(one => this.#deadIn(one)))
    const dead = new Set(letters.flat())
    const lost = new Set(this.#all.flatMap(({ account }) => [...account.owed]))
    for (const [id, { promised, forgotten }] of this.#sent) {
      const completed = this.ledger.completed.get(id) ?? 0
      if (promised && completed === 0 && !dead.has(id) && !lost.has(id) && !this.ledger.dead.has(id))
        this.ledger.violate(`${id} was acknowledged, and is neither handled, dead nor counted as lost`)
      if (this.#target.durable && promised && completed === 0 && !dead.has(id))
        this.ledger.violate(`${id} was acknowledged, and is neither handled nor a dead letter`)
      if (this.#target.reliable && completed > 1 + forgotten)
        this.ledger.violate(`${id} was handled ${completed} times, and forgotten ${forgotten} times`)
    }
  }

  async #deadIn({ receiver }: Member): Promise<string[]> {
    const letters = await this.#whilePassing(receiver.deadLetters.list({ limit: 1000 })).catch(() => [])
    return letters.map(({ id }) => id)
  }

  #checkPromises(): void {
    if (this.#pending.size > 0) this.ledger.violate(`${this.#pending.size} calls never settled`)
  }

  #background(work: Promise<unknown>): void {
    const settled = work.catch(error => this.ledger.violate(`rejected: ${String(error)}`))
    this.#pending.add(settled)
    void settled.then(() => this.#pending.delete(settled))
  }

  async #whilePassing<T>(work: Promise<T>): Promise<T> {
    let isSettled = false
    const settled = work.finally(() => {
      isSettled = true
    })
    settled.catch(() => {})
    for (let round = 0; round < 10 * ROUNDS && !isSettled; round++) await this.#target.pass(5)
    return settled
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#int(from.length)] as T
  }

  #int(below: number): number {
    return Math.floor(this.#random() * below)
  }
}
