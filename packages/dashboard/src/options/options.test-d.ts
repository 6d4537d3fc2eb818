import type { DashboardOptions } from './options.ts'

/** Each option but `authorize` may be `undefined`, so that callers can omit it conditionally. */
export const options: DashboardOptions & Record<Exclude<keyof DashboardOptions, 'authorize'>, undefined> = {
  authorize: () => 'read',
  receiver: undefined,
  inbox: undefined,
  allowedHosts: undefined,
  bodies: undefined,
  redact: undefined,
  traceUrl: undefined,
  emulatorUrl: undefined,
  trustProxy: undefined,
}
