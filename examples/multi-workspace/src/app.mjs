// @ts-check
import { webhooks } from '@ackhook/express'
import express from 'express'

/**
 * One route for many workspaces. Each has a signing secret of its own, and event ids of its own.
 *
 * @param {ReadonlyMap<string, string>} secrets By workspace. Yours may be a cache in front of a database.
 */
export function createApp(secrets) {
  const hooks = webhooks({
    // null: an unknown workspace. That is a 401, like any request that cannot prove its origin.
    secret: request => secrets.get(workspaceOf(request)) ?? null,
    namespace: workspaceOf,
  })
  const app = express()
  app.post('/webhooks/:workspace', hooks)
  return { app, hooks }
}

/** @param {import('express').Request} request */
function workspaceOf(request) {
  return String(request.params['workspace'])
}
