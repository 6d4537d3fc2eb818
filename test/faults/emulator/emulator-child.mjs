// An emulator in its own process, for tests to kill.
import { startEmulator } from '@ackhook/emulator'

const emulator = await startEmulator(JSON.parse(process.argv[2]))
process.send({ url: emulator.url })
