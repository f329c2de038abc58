// The routes: everything that the API serves, and two pages of our own under /_everlong.
import { Hono } from 'hono'
import { readHead } from '../http/incoming.ts'
import { fine, type Outcome, type Problem, problemBody, refused } from '../http/problem.ts'
import { handleChat } from '../openai/handler.ts'
import { handleResponses } from '../openai/responses/handler.ts'
import { handleMessages, json } from './messages.ts'
import { listModels, modelInfo } from './models.ts'
import type { World } from './world.ts'

export function createApp(world: World): Hono {
  const app = new Hono()
  app.post('/v1/messages', (context) => handleMessages(context.req.raw, 'create', world))
  app.post('/v1/messages/count_tokens', (context) => handleMessages(context.req.raw, 'count', world))
  app.post('/v1/chat/completions', (context) => handleChat(context.req.raw, world))
  for (const path of ['/v1/responses', '/v1/responses/compact'] as const) {
    app.post(path, (context) => handleResponses(context.req.raw, path, world))
  }
  app.get('/v1/models', (context) =>
    withHead(context.req.raw, world, () => fine(listModels(world, new URL(context.req.url).searchParams))),
  )
  app.get('/v1/models/:id', (context) =>
    withHead(context.req.raw, world, () => {
      const id = context.req.param('id')
      const facts = world.factsOf(id)
      return facts === undefined ? refused(notFound(`model: ${id}`)) : fine(modelInfo(facts, id))
    }),
  )
  app.get('/_everlong/log', (context) => context.text(world.log.text()))
  app.get('/_everlong/meter', (context) => context.json(world.meter.totals()))
  app.notFound(() => refuse(notFound('Not Found'), world))
  app.onError((error) => refuse({ status: 500, type: 'api_error', message: error.message }, world))
  return app
}

function notFound(message: string): Problem {
  return { status: 404, type: 'not_found_error', message }
}

function withHead(request: Request, world: World, answer: () => Outcome<object>): Response {
  const head = readHead(request.headers)
  if (!head.ok) return refuse(head.problem, world)
  const found = answer()
  return found.ok ? json(found.value, 200, world.ids('req')) : refuse(found.problem, world)
}

function refuse(problem: Problem, world: World): Response {
  const id = world.ids('req')
  return json(problemBody(problem, id), problem.status, id)
}
