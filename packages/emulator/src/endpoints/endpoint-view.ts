import { toInstant } from '../lib/time.ts'
import type { EndpointRow } from '../storage/endpoint-rows.ts'

/** An endpoint's health. It is informative: deliveries continue. */
export interface HealthView {
  readonly status: 'healthy' | 'warning'
  /** Reason for the warning. */
  readonly reason: string | null
  /** Number of attempts within the window, and of failures among them. */
  readonly attempts: number
  readonly failures: number
}

/** An endpoint, without its full secret. */
export interface EndpointView {
  readonly workspace: string
  readonly url: string
  /** Last four characters of the secret, after dots. */
  readonly secret: string
  /** Time until which the previous secret also signs; null if it does not. */
  readonly previousSecretUntil: string | null
  /** null: all. */
  readonly categories: readonly string[] | null
  readonly types: readonly string[] | null
  readonly paused: boolean
  readonly health: HealthView
  readonly createdAt: string
  readonly updatedAt: string
}

export function toEndpointView(row: EndpointRow, health: HealthView, now: number): EndpointView {
  return {
    workspace: row.workspace,
    url: row.url,
    secret: `••••${row.secret.slice(-4)}`,
    previousSecretUntil:
      row.previous_until !== null && row.previous_until > now ? toInstant(row.previous_until) : null,
    categories: listOf(row.categories),
    types: listOf(row.types),
    paused: row.paused === 1,
    health,
    createdAt: toInstant(row.created_at),
    updatedAt: toInstant(row.updated_at),
  }
}

function listOf(json: string | null): readonly string[] | null {
  return json === null ? null : (JSON.parse(json) as string[])
}
