import { type Emulator, type EmulatorOptions, startEmulator } from '../../packages/emulator/src/index.ts'

/** Starts an emulator that waits for up to a minute: its default of ten seconds would fail on slow machines. */
export async function startPatientEmulator(options: EmulatorOptions): Promise<Emulator> {
  const emulator = await startEmulator(options)
  const wait = emulator.wait.bind(emulator)
  emulator.wait = asked => wait({ timeout: '60s', ...asked })
  return emulator
}
