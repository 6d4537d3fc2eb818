/** ISO 8601, UTC. */
export function toInstant(ms: number): string {
  return new Date(ms).toISOString()
}
