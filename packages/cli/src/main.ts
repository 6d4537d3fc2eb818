#!/usr/bin/env node
import { run } from './run.ts'
import { processTerminal } from './terminal/process-terminal.ts'

const { stdout, stderr } = process
process.exitCode = await run(process.argv.slice(2), processTerminal())
// A module under test may leave connections open. Not process.exit alone: output still on its way to a pipe must arrive.
setTimeout(() => stdout.write('', () => stderr.write('', () => process.exit())), 1000).unref()
