import type { Alarm, Alarms } from '../alarms.ts'

/**
 * One timer for any number of alarms of one length: they are due in the order in which they were set. Nearly all are
 * cancelled at once, and the last timer of its length takes a list and a place in a queue of Node's with it: 3 % of a
 * request in a profile with two of them. In a tight loop a timer takes 0.22 µs to set and clear, an alarm 0.14.
 */
export function createAlarms(ms: number): Alarms {
  return new AlarmList(ms)
}

class AlarmList implements Alarms {
  readonly ms: number
  #first: ListedAlarm | undefined
  #last: ListedAlarm | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #ringDue = (): void => this.#ring()

  constructor(ms: number) {
    this.ms = ms
  }

  set(ring: () => void): Alarm {
    const alarm = new ListedAlarm(this, ring, performance.now() + this.ms)
    alarm.earlier = this.#last
    if (this.#last !== undefined) this.#last.later = alarm
    else this.#begin(alarm)
    this.#last = alarm
    return alarm
  }

  remove(alarm: ListedAlarm): void {
    const { earlier, later } = alarm
    if (earlier === undefined) this.#first = later
    else earlier.later = later
    if (later === undefined) this.#last = earlier
    else later.earlier = earlier
    // One that is gone must not hold those after it: promoted by the collector, it would keep them and their bodies.
    alarm.earlier = undefined
    alarm.later = undefined
    // Left to run out: the next alarm is likely to come before it does. Alone it keeps no process.
    if (this.#first === undefined) this.#timer?.unref()
  }

  #begin(alarm: ListedAlarm): void {
    this.#first = alarm
    if (this.#timer === undefined) this.#timer = setTimeout(this.#ringDue, this.ms)
    else this.#timer.ref()
  }

  #ring(): void {
    this.#timer = undefined
    const now = performance.now()
    try {
      for (let due = this.#first; due !== undefined && due.dueAt <= now; due = this.#first) {
        due.cancel()
        due.ring()
      }
    } finally {
      // One that throws must not silence the others. What rang may have set the next alarm, and a timer with it.
      if (this.#first !== undefined && this.#timer === undefined) {
        this.#timer = setTimeout(this.#ringDue, this.#first.dueAt - now)
      }
    }
  }
}

class ListedAlarm implements Alarm {
  readonly ring: () => void
  readonly dueAt: number
  earlier: ListedAlarm | undefined
  later: ListedAlarm | undefined
  #list: AlarmList | undefined

  constructor(list: AlarmList, ring: () => void, dueAt: number) {
    this.ring = ring
    this.dueAt = dueAt
    this.#list = list
  }

  cancel(): void {
    this.#list?.remove(this)
    this.#list = undefined
  }
}
