import type { Duration } from '@ackhook/core'
import { Command } from 'commander'
import type { Finish } from '../command/finish.ts'
import { parseRate } from '../command/pace.ts'
import {
  parseCount,
  parseDuration,
  parseUrl,
  withContract,
  withInsecure,
  withJson,
  withSecret,
  withSentUnit,
} from '../command/shared-options.ts'
import { UsageError } from '../command/usage-error.ts'
import { replay } from '../replay/replay.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { listTypes } from './list-types.ts'
import { send } from './send.ts'
import type { ListFlags, SendFlags } from './send-flags.ts'

export function sendCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('send')
    .description('Send signed events to a receiver, as the platform would')
    .argument('[type]', 'event type, such as conversation.resolved')
    .option('--to <url>', "the receiver's address", parseUrl)
    .option('--list', 'print all event types with example data, and send nothing')
    .option('--data <file or json>', 'event data: JSON, the path of a JSON file, or - for standard input')
    .option('--from-file <file>', "send a saved delivery's event byte for byte, with a new signature")
    .option('--id <id>', 'event id (default: a new one for each)')
    .option('--repeat <n>', 'send this many events', parseCount, 1)
    .option('--duplicate', 'send each event twice')
    .option('--rate <n>', 'send this many events per second (default: no limit)', parseRate)
    .option('--concurrency <n>', 'maximum number of events in flight', parseCount, 8)
    .option('--attempts <n>', 'attempts for each event, with backoff between them', parseCount, 1)
    .option('--timeout <duration>', 'how long to wait for each reply', parseDuration, '10s' as Duration)
    .option('--dry-run', 'print the requests and send nothing')
    .option('--curl', 'print commands for curl and send nothing')
    .addHelpText('after', HELP)
    .action(async (type: string | undefined, flags: Omit<SendFlags, 'to'> & ListFlags) => {
      const { list, to } = flags
      if (list) return listTypes(flags, terminal)
      if (flags.fromFile !== undefined) return finish(await sendFile(flags.fromFile, type, flags, terminal))
      if (type === undefined) throw new UsageError('give an event type; --list prints all of them')
      if (to === undefined) throw new UsageError("set the receiver's address with --to")
      finish(await send(type, { ...flags, to }, terminal))
    })
  return withJson(withInsecure(withSentUnit(withContract(withSecret(command)))))
}

/** Sends a saved event. Flags that shape a generated event have no meaning for it. */
function sendFile(
  file: string,
  type: string | undefined,
  { to, data, id, repeat, duplicate, dryRun, curl, ...flags }: Partial<SendFlags> & Omit<SendFlags, 'to'>,
  terminal: Terminal,
): Promise<number> {
  if ([type, data, id, duplicate, dryRun, curl].some(one => one !== undefined) || repeat !== 1) {
    throw new UsageError(
      '--from-file sends one saved event once: omit the type and the options that shape or repeat an event',
    )
  }
  if (to === undefined) throw new UsageError("set the receiver's address with --to")
  return replay(file, { ...flags, to, resign: true }, terminal)
}

const HELP = `
Exit code 0 if every event was acknowledged, 1 otherwise. If your app sets the contract option, set
--header, --scheme, --timestamp-unit and --field to the same values.

Examples:
  $ ackhook send --list
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks --data '{"resolved_by":"agent"}'
  $ ackhook send my.type --to http://localhost:3000/webhooks --data data.json --duplicate
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks --repeat 1000 --rate 50
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks --curl
  $ ackhook send --from-file delivery.json --to http://localhost:3000/webhooks
  $ ackhook send conversation.resolved --to http://localhost:3000/webhooks --field id=event_id --timestamp-unit milliseconds`
