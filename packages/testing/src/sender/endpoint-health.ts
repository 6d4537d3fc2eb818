/** The state of the endpoint on the platform's dashboard. */
export interface HealthReport {
  readonly status: 'healthy' | 'unhealthy'
  /** Failed attempts since the last acknowledged one, of any event. */
  readonly failuresInARow: number
}

/** Repeated failures make an endpoint unhealthy; one acknowledged attempt makes it healthy. Nothing is switched off. */
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
