#!/usr/bin/env node
import { run } from './run.ts'
import { processTerminal } from './terminal/process-terminal.ts'

// Not process.exit: output still on its way to a pipe must arrive.
process.exitCode = await run(process.argv.slice(2), processTerminal())
