import type { createEvent, TestDelivery, TestReceiver } from '@ackhook/testing'

type Event = ReturnType<typeof createEvent>

/** Delivers again after a 503, as the platform does: on a busy machine, an inbox's file or server may be slow. */
export async function deliverPatiently(hooks: TestReceiver, event: Event): Promise<TestDelivery<Event>> {
  for (;;) {
    const delivery = await hooks.deliverEvent(event)
    if (delivery.status !== 503) return delivery
  }
}
