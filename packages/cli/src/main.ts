#!/usr/bin/env node
import { run } from './run.ts'
import { processTerminal } from './terminal/process-terminal.ts'

const { stdout, stderr } = process
process.exitCode = await run(process.argv.slice(2), processTerminal())
// Ends the process even if a tested module left connections open. Both streams are flushed first, as they may be pipes.
setTimeout(() => stdout.write('', () => stderr.write('', () => process.exit())), 1000).unref()
