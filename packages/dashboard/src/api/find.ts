import type { Inbox } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import { inLanes } from '../letters/in-lanes.ts'
import { locate } from '../letters/locate.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import { ApiProblem, type Finding, type FoundEvent } from '../protocol/protocol.ts'
import { toRow } from './event-rows.ts'

const MIN_TEXT = 3
const MAX_TEXT = 300
const MAX_FOUND = 50
/** Events whose bodies one search reads: the newest dead letters, and the oldest of the others. */
const MAX_LETTERS = 5000
const MAX_WAITING = 500
const PAGE = 200
const LONGEST_MS = 2000

type Candidate = Parameters<typeof toRow>[0]

/** Finds an event by its id, and those that wait or are dead by their id or a whole value in their bodies. */
export async function find(parts: ResolvedDashboard, query: string, namespace: string): Promise<Finding> {
  const text = query.trim()
  if (text.length < MIN_TEXT || text.length > MAX_TEXT)
    throw new ApiProblem(400, 'invalid', `'q' must have ${MIN_TEXT} to ${MAX_TEXT} characters.`)
  const key = await eventKey(namespace, text)
  const search = new Search(parts, text)
  await search.readLetters()
  for (const state of ['active', 'pending'] as const) await search.readWaiting(state)
  const { found, letters, waiting, isPartial } = search
  const exact = { key, ...(await locate(parts.inbox, key)).where }
  return { exact, found, letters, waiting, ...(isPartial && { isPartial: true }) }
}

/** One bounded search. */
class Search {
  readonly found: FoundEvent[] = []
  letters = 0
  waiting = 0
  isPartial = false
  readonly #parts: ResolvedDashboard
  readonly #inbox: Inbox
  readonly #wanted: string
  readonly #endsAt = performance.now() + LONGEST_MS

  constructor(parts: ResolvedDashboard, text: string) {
    this.#parts = parts
    this.#inbox = parts.inbox
    this.#wanted = normal(text)
  }

  async readLetters(): Promise<void> {
    for (let after: string | undefined; ; ) {
      const page = await this.#inbox.deadLetters.list({ limit: PAGE, ...(after !== undefined && { after }) })
      for (const letter of page) this.#look(letter, 'dead')
      this.letters += page.length
      after = page.at(-1)?.cursor
      if (after === undefined) return
      if (this.#isOver(this.letters, MAX_LETTERS)) return
    }
  }

  /** Reads the bodies of listed events, of which a page has none. */
  async readWaiting(state: 'pending' | 'active'): Promise<void> {
    const inbox = this.#inbox
    if (inbox.browse === undefined || !inbox.browsing?.states.includes(state)) {
      this.isPartial = true
      return
    }
    for (let after: string | undefined; ; ) {
      const page = await inbox.browse({ state, limit: PAGE, after })
      const whole = await inLanes(page, async ({ key }) => (await inbox.browse!({ state, key }))[0])
      for (const event of whole) if (event !== undefined) this.#look(event, state)
      this.waiting += page.length
      after = page.at(-1)?.cursor
      if (after === undefined) return
      if (this.#isOver(this.waiting, MAX_WAITING)) return
    }
  }

  #isOver(read: number, most: number): boolean {
    const isOver = read >= most || performance.now() > this.#endsAt || this.found.length >= MAX_FOUND
    if (isOver) this.isPartial = true
    return isOver
  }

  /** Compares what the page would show: a search must not tell what `redact` hides. */
  #look(event: Candidate, state: FoundEvent['state']): void {
    if (this.found.length >= MAX_FOUND) return
    const { id, type, namespace, body } = event
    const texts = [id, namespace]
    if (body !== undefined)
      texts.push(...valuesOf(this.#parts.redact(new TextDecoder().decode(body), { id, type, namespace })))
    if (texts.some(text => normal(text) === this.#wanted))
      this.found.push({ ...toRow(event, this.#parts), state })
  }
}

/** Case, and what people write into a phone number, do not count. */
function normal(text: string): string {
  const phone = /^\+?[\d\s()./-]{6,}$/.test(text) ? text.replace(/[^\d]/g, '') : text
  return phone.trim().toLowerCase()
}

/** The texts and numbers in a body. Whole values only: parts of them would tell a reader who guesses what a hidden body has. */
function valuesOf(body: string): readonly string[] {
  const values: string[] = []
  try {
    JSON.parse(body, (_, value: unknown) => {
      if (typeof value === 'string' || typeof value === 'number') values.push(String(value))
      return value
    })
  } catch {
    // A body that is not JSON has no values.
  }
  return values
}
