import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createEvent, signedRequest } from '@ackhook/testing'
import { Client } from 'pg'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { itInFull } from '../support/in-full.ts'
import { startPostgres } from '../support/postgres.ts'
import { startRedis } from '../support/redis.ts'
import { startSqs } from '../support/sqs.ts'
import { ROOT } from '../support/workspace-packages.ts'
import { type NewUser, newUser } from './new-user.ts'
import { run } from './run.ts'

const LAMBDA = 'docs/getting-started/aws-lambda.md'
const WORKERS = 'docs/getting-started/workers.md'
const secret = 'whsec_of_a_project_in_a_test'
let user: NewUser
afterEach(() => user.leave())

describe(LAMBDA, () => {
  it('goes from an empty folder to a function that replies to AWS events', async () => {
    user = await newUser(inject('registry'))
    const shown = await user.follow(LAMBDA, 'new-user')
    expect(shown).toMatch(/cnv_\w+ was resolved by ai[\s\S]*statusCode: 200/)
    // Includes stderr, where warnings go, unlike the page's own commands.
    const tried = await user.run(`SIGNING_SECRET=${secret} node dist/try.mjs 2>&1`)
    expect(tried).toContain('statusCode: 200')
    expect(tried).not.toContain('core_loaded_twice')

    const genuine = createEvent('conversation.resolved')
    const forged = { secret: 'a-secret-someone-guessed' }
    expect(await invoke(awsEvent('http-api', genuine, 'utf8'))).toEqual([200, 'processed'])
    expect(await invoke(awsEvent('http-api', genuine, 'base64'))).toEqual([200, 'processed'])
    expect(await invoke(awsEvent('function-url', genuine, 'utf8'))).toEqual([200, 'processed'])
    expect(await invoke(awsEvent('function-url', genuine, 'base64'))).toEqual([200, 'processed'])
    expect(await invoke(awsEvent('function-url', genuine, 'utf8', forged))).toEqual([401, 'unauthorized'])
    expect(await invoke(withMethod(awsEvent('http-api', genuine, 'utf8'), 'GET'))).toEqual([
      405,
      'method_not_allowed',
    ])
  })
})

describe(`${LAMBDA}, with a queue`, () => {
  it('goes from an empty folder to one function that receives and one that handles, with Redis or without', async () => {
    user = await newUser(inject('registry'))
    const [redis, postgres] = await Promise.all([startRedis(), startPostgres()])
    try {
      await user.follow(LAMBDA, 'with-queue')
      await user.run('npm install --save-dev @ackhook/testing esbuild')
      await handlesOnce({ REDIS_URL: redis.url })

      await user.follow(LAMBDA, 'without-redis')
      const client = new Client({ connectionString: postgres.url })
      await client.connect()
      await client.query(readFileSync(join(user.folder, 'ackhook.sql'), 'utf8'))
      await handlesOnce({ DATABASE_URL: postgres.url })
      expect((await client.query('SELECT * FROM ackhook_ids')).rowCount).toBe(1)
      await client.end()
    } finally {
      await Promise.all([redis.stop(), postgres.stop()])
    }
  })
})

/** Bundles both functions, and passes an event through a queue that delivers it twice. */
async function handlesOnce(store: Readonly<Record<string, string>>): Promise<void> {
  const sqs = await startSqs()
  try {
    // Bundles like `sam build`.
    await user.run(
      'npx esbuild receive.ts consume.ts --bundle --platform=node --target=es2020 --minify --outdir=dist',
    )
    writeFileSync(join(user.folder, 'dist/package.json'), '{ "type": "commonjs" }')
    writeFileSync(join(user.folder, 'lambda.mjs'), LAMBDA_WITH_QUEUE)
    const env = {
      ...store,
      SIGNING_SECRET: secret,
      QUEUE_URL: await sqs.createQueue(),
      DEAD_LETTERS_URL: await sqs.createQueue('dead'),
      SQS: sqs.endpoint,
    }
    const given = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`)
    const printed = await user.run([...given, 'node lambda.mjs'].join('\n'))
    expect(printed).toMatch(
      /202[\s\S]*cnv_\w+ was resolved by ai[\s\S]*{"batchItemFailures":\[\]}\n{"batchItemFailures":\[\]}/,
    )
    expect(printed.match(/was resolved by ai/g)).toHaveLength(1)
  } finally {
    await sqs.stop()
  }
}

/** Plays Lambda: passes a request to the first function, and the queue's messages to the second, twice. */
const LAMBDA_WITH_QUEUE = `
  import dns from 'node:dns'
  import { createEvent, signedRequest } from '@ackhook/testing'
  import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'

  Object.assign(process.env, {
    AWS_LAMBDA_FUNCTION_NAME: 'webhooks',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
  })
  // The queue's address has a name that only fauxqs can resolve.
  const { lookup } = dns
  dns.lookup = (name, ...rest) => lookup(name.endsWith('.localhost') ? '127.0.0.1' : name, ...rest)

  const { default: { handler: receive } } = await import('./dist/receive.js')
  const { default: { handler: consume } } = await import('./dist/consume.js')
  const { SIGNING_SECRET: secret, QUEUE_URL: QueueUrl, SQS: endpoint } = process.env
  const { method, headers, body } = signedRequest(createEvent('conversation.resolved'), { secret })
  const request = { requestContext: { http: { method } }, headers, body: Buffer.from(body).toString(), isBase64Encoded: false }
  console.log((await receive(request)).statusCode)
  const client = new SQSClient({ endpoint })
  const taken = new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ['All'] })
  const { Messages: messages } = await client.send(taken)
  const Records = messages.map(({ MessageId: messageId, ReceiptHandle: receiptHandle, Body: body, Attributes: attributes }) => ({
    messageId,
    receiptHandle,
    body,
    attributes,
  }))
  console.log(JSON.stringify(await consume({ Records })))
  console.log(JSON.stringify(await consume({ Records })))
  process.exit()
`

describe(WORKERS, () => {
  it('goes from an empty folder to a Worker that stores an event in a queue, and handles it', async () => {
    user = await newUser(inject('registry'))
    expect(await user.follow(WORKERS, 'with-queue')).toContain('202 accepted')
    await user.prints(/cnv_\w+ was resolved by ai/)
  })

  itInFull('goes from an empty folder to a Worker without a queue, with and without Hono', async () => {
    user = await newUser(inject('registry'))
    expect(await user.follow(WORKERS, 'new-user')).toContain('200 processed')
    await user.prints(/cnv_\w+ was resolved by ai/)

    await user.end()
    await user.follow(WORKERS, 'without-hono')
    await user.start('npx wrangler dev --port 3000')
    const send = 'npx ackhook send conversation.resolved --to http://localhost:3000/ --duplicate'
    expect(await user.run(`export SIGNING_SECRET=${secret}; ${send}`)).toMatch(
      /200 processed[\s\S]*200 duplicate/,
    )
    await user.prints(/cnv_\w+ was resolved by ai/)
  })
})

interface AwsEvent {
  readonly headers: Record<string, string>
  readonly requestContext: { readonly http: object }
}

/** Returns a delivery in the shape that AWS documents: headers in lower case, the body as text or base64. */
function awsEvent(
  shape: 'http-api' | 'function-url',
  event: ReturnType<typeof createEvent>,
  encoding: 'utf8' | 'base64',
  options: { readonly secret: string } = { secret },
): AwsEvent {
  const recorded = JSON.parse(readFileSync(`${ROOT}test/packaging/fixtures/lambda/${shape}.json`, 'utf8'))
  const { headers, body } = signedRequest(event, options)
  return {
    ...recorded,
    headers: { ...recorded.headers, ...headers, 'content-length': String(body.length) },
    body: Buffer.from(body).toString(encoding),
    isBase64Encoded: encoding === 'base64',
  }
}

function withMethod(event: AwsEvent, method: string): AwsEvent {
  return { ...event, requestContext: { http: { ...event.requestContext.http, method } } }
}

/** Runs in its own process, like a function started for this event. */
async function invoke(event: AwsEvent): Promise<readonly unknown[]> {
  const script = `
    import { handler } from './dist/index.mjs'
    console.log = () => {}
    const { statusCode, body } = await handler(JSON.parse(process.argv[1]))
    process.stdout.write(JSON.stringify([statusCode, JSON.parse(body).code]))`
  const env = { ...process.env, SIGNING_SECRET: secret, NODE_NO_WARNINGS: '1' }
  const args = ['--input-type=module', '-e', script, JSON.stringify(event)]
  return JSON.parse(await run('node', args, { cwd: user.folder, env })) as unknown[]
}
