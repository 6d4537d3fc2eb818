import { expectTypeOf } from 'vitest'
import type { EventMap } from './event-types.ts'
import type { PlannedData, PlannedEvents } from './planned-events.ts'

// Shows how an app uses them without changing this package's types.
interface AppEvents extends EventMap, PlannedEvents {}

expectTypeOf<AppEvents['message.delivered']>().toEqualTypeOf<PlannedData>()
expectTypeOf<keyof AppEvents>().toEqualTypeOf<keyof EventMap | keyof PlannedEvents>()
// Planned types are never in the default map, and never include the published one.
expectTypeOf<keyof EventMap & keyof PlannedEvents>().toEqualTypeOf<never>()
