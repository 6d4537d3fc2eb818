import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { now } from '../kit/now.tsx'

const offset = signal(0)
/** Whether the emulator has said what its time is. Until then it is taken to be that of this machine. */
export const isTimeKnown = signal(false)

/** The time of the emulator, which a test or the API may have moved. */
export const emulatorNow: ReadonlySignal<number> = computed(() => now.value + offset.value)

/** Takes the emulator's time from a reply. */
export function setEmulatorTime(instant: string): void {
  offset.value = Date.parse(instant) - Date.now()
  isTimeKnown.value = true
}
