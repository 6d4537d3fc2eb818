import { fromJsonSchema, McpServer, type ToolAnnotations } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

/** An operation that an agent may call. */
export interface Tool {
  readonly name: string
  /** What it does, and what a person should know before allowing it. */
  readonly description: string
  /** JSON Schema of the arguments, which is an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** What a call changes. Clients ask a person before one that changes something, and warn of one that is `'for good'`. */
  readonly changes: 'nothing' | 'something' | 'for good'
  /** True if a call makes the app's handlers run, which may change and reach anything. Clients warn of that, too. */
  readonly runsHandlers?: boolean
  /** Resolves with a JSON value. A rejection's message is the result that the agent reads. */
  run(args: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** What {@link serveTools} serves, and until when. */
export interface ToolServerOptions {
  /** Name and version that clients show. */
  readonly name: string
  readonly version: string
  /** Advice for the agent on all tools. */
  readonly instructions: string
  readonly tools: readonly Tool[]
  /** Ends the server. */
  readonly signal: AbortSignal
}

/**
 * Serves tools by the Model Context Protocol on standard input and output, which nothing else may then use. Resolves once
 * the client has closed standard input, or `signal` is aborted.
 *
 * @example
 * await serveTools({
 *   name: 'clock',
 *   version: '1.0.0',
 *   instructions: 'Times are UTC.',
 *   tools: [
 *     {
 *       name: 'now',
 *       description: 'Returns the time',
 *       inputSchema: { type: 'object', properties: {}, additionalProperties: false },
 *       changes: 'nothing',
 *       run: async () => ({ now: new Date().toISOString() }),
 *     },
 *   ],
 *   signal: AbortSignal.timeout(60_000),
 * })
 */
export async function serveTools(options: ToolServerOptions): Promise<void> {
  const { name, version, instructions, tools, signal } = options
  const ended = endOf(signal)
  const connection = serveStdio(() => {
    const server = new McpServer({ name, version }, { instructions })
    for (const tool of tools) register(tool, server)
    return server
  })
  await ended
  await connection.close()
}

/** Resolves when the client is gone or the signal is aborted. */
function endOf(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
    for (const event of ['end', 'close']) process.stdin.once(event, () => resolve())
  })
}

function register(
  { name, description, inputSchema, changes, runsHandlers = false, run }: Tool,
  server: McpServer,
): void {
  const annotations: ToolAnnotations = {
    readOnlyHint: changes === 'nothing',
    destructiveHint: changes === 'for good' || runsHandlers,
    openWorldHint: runsHandlers,
  }
  const schema = fromJsonSchema<Readonly<Record<string, unknown>>>({ ...inputSchema })
  server.registerTool(name, { description, inputSchema: schema, annotations }, async args => {
    try {
      return { content: [{ type: 'text', text: JSON.stringify(await run(args)) }] }
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: (error as Error).message }] }
    }
  })
}
