/** Handler of every receiver: counts, and yields once like any real handler. */
export const work = { handled: 0 }
/** @type {Ledger | undefined} */
let ledger

export async function handleEvent(event) {
  ledger?.note(event.id)
  await undefined
  if (event.type === 'conversation.resolved') work.handled++
}

/** From now on, notes how often each event runs whose number is one of `count` from `first` on, and when if `times`. */
export function keepLedger({ first, count, times }) {
  ledger = new Ledger(first, count, times)
}

/** Returns how many events have run, how many more than once, and the begin of each if it was noted. */
export function readLedger() {
  return ledger.read()
}

/** Milliseconds by a clock that all processes of the machine share. */
export function sharedNow() {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Exact, and of constant size: a set of ids would grow by as much as a leak. */
class Ledger {
  #first
  #runs
  #beganAt

  constructor(first, count, times) {
    this.#first = first
    this.#runs = new Uint8Array(count).fill(0)
    this.#beganAt = times ? new Float64Array(count) : undefined
  }

  note(id) {
    const index = Number(id.slice(4)) - this.#first
    if (!(index >= 0 && index < this.#runs.length)) return
    if (this.#runs[index]++ === 0 && this.#beganAt !== undefined) this.#beganAt[index] = sharedNow()
  }

  read() {
    let once = 0
    let again = 0
    for (const runs of this.#runs) {
      if (runs === 1) once++
      else if (runs > 1) again++
    }
    return { once, again, beganAt: this.#beganAt && Array.from(this.#beganAt) }
  }
}
