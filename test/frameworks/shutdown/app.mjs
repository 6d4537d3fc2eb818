/** Code shared by both apps, with a handler that is still running when the signal arrives. */
export const options = { secret: process.env.SIGNING_SECRET }

export function setUp(hooks) {
  hooks.on('*', async event => {
    console.log(`began ${event.id}`)
    await new Promise(resolve => setTimeout(resolve, 2500))
    console.log(`handled ${event.id}`)
  })
  return hooks
}
