import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { now } from '../kit/now.tsx'

const offset = signal(0)
/** `true` once the emulator's time is known. Until then, this machine's time is used. */
export const isTimeKnown = signal(false)

/** The emulator's time, which a test or the API may have moved. */
export const emulatorNow: ReadonlySignal<number> = computed(() => now.value + offset.value)

/** Sets the emulator's time from a reply. */
export function setEmulatorTime(instant: string): void {
  offset.value = Date.parse(instant) - Date.now()
  isTimeKnown.value = true
}
