/** Alarms that all ring equally long after they were set. */
export interface Alarms {
  readonly ms: number
  set(ring: () => void): Alarm
}

/** One alarm. Until it is cancelled or has rung it keeps the process alive, as a timer does. */
export interface Alarm {
  cancel(): void
}
