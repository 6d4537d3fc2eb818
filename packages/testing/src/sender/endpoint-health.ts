/** The endpoint's state on the platform's dashboard. */
export interface HealthReport {
  readonly status: 'healthy' | 'unhealthy'
  /** Failed attempts since the last acknowledged one, counting all events. */
  readonly failuresInARow: number
}

/**
 * Tracks the endpoint's health. Repeated failures make it unhealthy; one acknowledged attempt makes it healthy again.
 * Nothing is switched off.
 */
export class EndpointHealth {
  readonly #unhealthyAfter: number
  #failuresInARow = 0

  constructor(unhealthyAfter: number) {
    this.#unhealthyAfter = unhealthyAfter
  }

  record(acknowledged: boolean): void {
    this.#failuresInARow = acknowledged ? 0 : this.#failuresInARow + 1
  }

  report(): HealthReport {
    const failuresInARow = this.#failuresInARow
    return { status: failuresInARow >= this.#unhealthyAfter ? 'unhealthy' : 'healthy', failuresInARow }
  }
}
