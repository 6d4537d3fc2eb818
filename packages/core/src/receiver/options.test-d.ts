import type { ReceiverOptions } from './options.ts'

/** Every option as written by an app whose settings may be missing: it must compile with exactOptionalPropertyTypes. */
type Unset<Options> = { readonly [Name in keyof Options]: undefined }

const unset = {} as Unset<Required<ReceiverOptions>>
unset satisfies ReceiverOptions

const on = Math.random() > 0.5
const given: ReceiverOptions = {
  secret: on ? 'a secret of enough bytes' : undefined,
  tolerance: on ? '1d' : undefined,
  retry: { attempts: on ? 3 : undefined, minDelay: on ? '1s' : undefined },
  contract: { header: on ? 'X-Signature' : undefined, fields: { id: on ? 'event_id' : undefined } },
}
void given
