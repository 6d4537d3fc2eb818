import type { Delivery } from '@ackhook/core'
import { crashPolicy } from '@ackhook/core/spi'

/** One event in the file. */
export interface Row {
  readonly delivery: Delivery
  /** Milliseconds since the epoch. */
  readonly acceptedAt: number
  state: 'waiting' | 'running' | 'done' | 'dead'
  /** End of a delay or of a retention, in milliseconds since the epoch. */
  until: number
  /** Number of ended attempts. */
  attempts: number
  /** Number of crashes in a row. */
  crashes: number
  /** True from the first attempt on: the event holds its ordering key. */
  hasBegun: boolean
  routingToken: number
  /** Place among the dead letters. */
  place: number
  failedAt: number
  reason: string
}

/** One line of the file. */
export type Line =
  | { readonly is: 'opened' }
  | {
      readonly is: 'accepted'
      readonly key: string
      readonly delivery: Omit<Delivery, 'body'> & { readonly body: string }
      readonly at: number
    }
  | { readonly is: 'begun' | 'redriven' | 'discarded' | 'forgotten'; readonly key: string }
  | { readonly is: 'crashed' | 'done'; readonly key: string; readonly until: number }
  | { readonly is: 'released'; readonly key: string; readonly crashes: number }
  | {
      readonly is: 'waiting'
      readonly key: string
      readonly until: number
      readonly attempts: number
      readonly routingToken: number
    }
  | {
      readonly is: 'dead'
      readonly key: string
      readonly attempts: number
      readonly failedAt: number
      readonly reason: string
      readonly routingToken: number
      readonly place: number
    }

export type Rows = Map<string, Row>

export function acceptedLine(delivery: Delivery, at: number): Line {
  const body = Buffer.from(delivery.body).toString('base64')
  const { event: _, ...stored } = delivery as Delivery & { readonly event?: unknown }
  return { is: 'accepted', key: delivery.key, delivery: { ...stored, body }, at }
}

/** Applies a line's change. */
export function applyLine(rows: Rows, line: Line): void {
  if (line.is === 'opened') return
  const row = rows.get(line.key)
  if (line.is === 'accepted') rows.set(line.key, rowOf(line, row))
  else if (row !== undefined) changeRow(rows, row, line)
}

function rowOf({ delivery, at }: Extract<Line, { is: 'accepted' }>, before: Row | undefined): Row {
  const body = new Uint8Array(Buffer.from(delivery.body, 'base64'))
  return {
    delivery: { ...delivery, body },
    acceptedAt: at,
    state: 'waiting',
    until: 0,
    attempts: 0,
    crashes: 0,
    hasBegun: false,
    routingToken: before?.state === 'dead' ? before.routingToken : 0,
    place: 0,
    failedAt: 0,
    reason: '',
  }
}

function changeRow(rows: Rows, row: Row, line: Exclude<Line, { is: 'opened' | 'accepted' }>): void {
  switch (line.is) {
    case 'begun':
      Object.assign(row, { state: 'running', hasBegun: true })
      break
    case 'crashed': {
      const attempts = row.attempts + Number(crashPolicy(row.crashes) === 'run')
      Object.assign(row, { state: 'waiting', until: line.until, attempts, crashes: row.crashes + 1 })
      break
    }
    case 'released':
      Object.assign(row, { state: 'waiting', until: 0, crashes: line.crashes })
      break
    case 'done':
      Object.assign(row, { state: 'done', until: line.until })
      break
    case 'waiting': {
      const { until, attempts, routingToken } = line
      Object.assign(row, { state: 'waiting', until, attempts, routingToken, crashes: 0 })
      break
    }
    case 'dead': {
      const { attempts, failedAt, reason, routingToken, place } = line
      Object.assign(row, { state: 'dead', attempts, failedAt, reason, routingToken, place })
      break
    }
    case 'redriven':
      Object.assign(row, { state: 'waiting', until: 0, attempts: 0, crashes: 0, hasBegun: false })
      break
    default:
      rows.delete(line.key)
  }
}
