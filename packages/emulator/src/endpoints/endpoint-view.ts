import { toInstant } from '../lib/instant.ts'
import type { EndpointRow } from '../storage/endpoint-rows.ts'

/** The health of an endpoint. Nothing is switched off for it. */
export interface HealthView {
  readonly status: 'healthy' | 'warning'
  /** Reason for the warning. */
  readonly reason: string | null
  /** Attempts, and failed ones among them, in the window that is judged. */
  readonly attempts: number
  readonly failures: number
}

/** An endpoint as everybody may see it. */
export interface EndpointView {
  readonly workspace: string
  readonly url: string
  /** The last four characters of the secret, behind dots. */
  readonly secret: string
  /** Time until which events are signed with the previous secret too; null if they are not. */
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
