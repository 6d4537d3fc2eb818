/** Formats an instant as ISO 8601 in UTC. */
export function toInstant(ms: number): string {
  return new Date(ms).toISOString()
}
