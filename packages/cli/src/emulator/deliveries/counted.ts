/** Formats a number of deliveries: `1 delivery`, `250 deliveries`. */
export function counted(count: number): string {
  return count === 1 ? '1 delivery' : `${count} deliveries`
}
