import { expectTypeOf } from 'vitest'
import type { EventIds } from './event-ids.ts'

/** Constraint of `DurableObjectNamespace` in what `wrangler types` writes. */
interface DurableObjectBranded {
  readonly __DURABLE_OBJECT_BRAND: never
}

expectTypeOf<EventIds>().toExtend<DurableObjectBranded>()
