import { type Emulator, type EmulatorOptions, startEmulator } from '../../packages/emulator/src/index.ts'

/** An emulator whose waits last for a minute: its default of ten seconds would be a bound on the speed of the machine. */
export async function startPatientEmulator(options: EmulatorOptions): Promise<Emulator> {
  const emulator = await startEmulator(options)
  const wait = emulator.wait.bind(emulator)
  emulator.wait = asked => wait({ timeout: '60s', ...asked })
  return emulator
}
