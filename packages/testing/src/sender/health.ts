/** What the platform's dashboard would say of the endpoint. */
export interface EndpointHealth {
  readonly status: 'healthy' | 'unhealthy'
  /** Failed attempts since the last acknowledged one, whatever the event. */
  readonly failuresInARow: number
}

export interface Health {
  record(acknowledged: boolean): void
  now(): EndpointHealth
}

/** Repeated failures surface as a warning; one acknowledged attempt takes it back. Nothing is switched off. */
export function createHealth(unhealthyAfter: number): Health {
  let failuresInARow = 0
  return {
    record(acknowledged) {
      failuresInARow = acknowledged ? 0 : failuresInARow + 1
    },
    now: () => ({ status: failuresInARow >= unhealthyAfter ? 'unhealthy' : 'healthy', failuresInARow }),
  }
}
