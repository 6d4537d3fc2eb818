import { expect, it } from 'vitest'
import { random } from '../../../../../test/support/random.ts'
import type { Entry } from './entry.ts'
import { ReadyQueue } from './ready-queue.ts'

/** What the queue reads of an entry, and what the model knows of it. */
interface Event {
  readonly n: number
  attempts: number
  state: 'waiting' | 'running' | 'retrying' | 'gone'
  turn: ReturnType<ReadyQueue<Entry>['began']>
  readonly delivery: {
    readonly type: string
    readonly group?: string
    readonly order?: { readonly key: string; readonly createdAt: number }
  }
}

const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
const number = (below: number): number => Math.floor(random() * below)

/** A queue beside a model of it, which takes a random step at a time and starts what may run. */
class Model {
  readonly #concurrency = 1 + number(4)
  readonly #perGroup = number(2) === 0 ? undefined : 1 + number(2)
  readonly #paused = new Set<string>()
  readonly #events: Event[] = []
  readonly #queue: ReadyQueue<Entry>
  readonly log: string[] = []

  constructor() {
    const paused = this.#paused
    const pauses = {
      get isAny() {
        return paused.size > 0
      },
      covers: (type: string) => paused.has(type),
    }
    this.#queue = new ReadyQueue({ concurrency: this.#concurrency, perGroup: this.#perGroup, pauses })
  }

  step(): void {
    const steps = [
      this.#push,
      this.#push,
      this.#push,
      this.#end,
      this.#fail,
      this.#retry,
      this.#pause,
      this.#withdraw,
    ]
    pick(steps)?.call(this)
    this.startAll()
  }

  /** Starts what the queue gives, and returns what should have run and does not. */
  startAll(): void {
    while (this.#in('running').length < this.#concurrency) {
      const event = this.#queue.shift() as Event | undefined
      if (event === undefined) break
      if (event.state === 'gone') continue
      this.log.push(`start ${event.n}`)
      expect(this.#mayRun(event), `${event.n} may not run: ${this.#story()}`).toBe(true)
      event.turn = this.#queue.began(event as unknown as Entry)
      event.attempts++
      event.state = 'running'
    }
    const idle = this.#in('running').length < this.#concurrency ? this.#in('waiting') : []
    expect(
      idle.filter(event => this.#mayRun(event)).map(({ n }) => n),
      this.#story(),
    ).toEqual([])
  }

  /** Ends every pause and every event. Returns how many never ended. */
  finish(): number {
    this.#paused.clear()
    this.#queue.unpark()
    for (let i = 0; i < 1000 && this.#events.some(({ state }) => state !== 'gone'); i++) {
      this.startAll()
      this.#end()
      this.#retry()
    }
    return this.#events.filter(({ state }) => state !== 'gone').length
  }

  #mayRun({ n, delivery: { type, group, order }, attempts }: Event): boolean {
    if (this.#paused.has(type)) return false
    const ofKey = this.#events.filter(other => order !== undefined && other.delivery.order?.key === order.key)
    if (ofKey.some(({ state, n: other }) => other !== n && (state === 'running' || state === 'retrying')))
      return false
    const isBefore = (other: Event): boolean =>
      other.attempts > 0 ||
      (attempts === 0 && this.#ageOf(other) < (order?.createdAt ?? 0)) ||
      (attempts === 0 && this.#ageOf(other) === order?.createdAt && other.n < n)
    if (ofKey.some(other => other.state === 'waiting' && other.n !== n && isBefore(other))) return false
    const inGroup = this.#in('running').filter(({ delivery }) => delivery.group === group)
    return this.#perGroup === undefined || inGroup.length < this.#perGroup
  }

  #ageOf({ delivery }: Event): number {
    return delivery.order?.createdAt ?? 0
  }

  #in(state: Event['state']): Event[] {
    return this.#events.filter(event => event.state === state)
  }

  #push(): void {
    const delivery = {
      type: `t${number(2)}`,
      ...(this.#perGroup !== undefined && { group: `g${number(3)}` }),
      ...(number(3) > 0 && { order: { key: `k${number(3)}`, createdAt: number(5) } }),
    }
    const event: Event = { n: this.#events.length, attempts: 0, state: 'waiting', turn: undefined, delivery }
    this.#events.push(event)
    this.log.push(`push ${event.n} ${JSON.stringify(delivery)}`)
    this.#queue.push(event as unknown as Entry)
  }

  #end(): void {
    const event = pick(this.#in('running'))
    if (event === undefined) return
    this.log.push(`end ${event.n}`)
    event.state = 'gone'
    if (event.turn !== undefined) this.#queue.ended(event.turn)
    this.#queue.remove(event as unknown as Entry)
  }

  #fail(): void {
    const event = pick(this.#in('running'))
    if (event === undefined) return
    this.log.push(`fail ${event.n}`)
    event.state = 'retrying'
    if (event.turn !== undefined) this.#queue.ended(event.turn)
  }

  #retry(): void {
    const event = pick(this.#in('retrying'))
    if (event === undefined) return
    this.log.push(`retry ${event.n}`)
    event.state = 'waiting'
    this.#queue.push(event as unknown as Entry)
  }

  #pause(): void {
    const type = `t${number(2)}`
    this.log.push(`pause or resume ${type}`)
    if (!this.#paused.delete(type)) this.#paused.add(type)
    else this.#queue.unpark()
  }

  #withdraw(): void {
    const event = pick([...this.#in('waiting'), ...this.#in('retrying')])
    if (event === undefined) return
    this.log.push(`withdraw ${event.n}`)
    event.state = 'gone'
    this.#queue.remove(event as unknown as Entry)
  }

  #story(): string {
    return `${this.#concurrency} slots, ${this.#perGroup} a group; ${this.log.slice(-14).join(' | ')}`
  }
}

it('never leaves a slot free beside an event that may run, or runs one that may not, and loses none', () => {
  for (let round = 0; round < 300; round++) {
    const model = new Model()
    for (let step = 0; step < 80; step++) model.step()
    expect(model.finish(), model.log.slice(-14).join(' | ')).toBe(0)
  }
})
