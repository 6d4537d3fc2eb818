// An emulator in a process of its own, to be killed.
import { startEmulator } from '@ackhook/emulator'

const emulator = await startEmulator(JSON.parse(process.argv[2]))
process.send({ url: emulator.url })
