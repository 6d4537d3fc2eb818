/** What both apps have: a handler that is still at work when the signal comes. */
export const options = { secret: process.env.SIGNING_SECRET }

export function setUp(hooks) {
  hooks.on('*', async event => {
    console.log(`began ${event.id}`)
    await new Promise(resolve => setTimeout(resolve, 2500))
    console.log(`handled ${event.id}`)
  })
  return hooks
}
