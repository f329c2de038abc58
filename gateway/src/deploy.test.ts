// The files for operators: they parse, the configuration in them is one, and they name addresses and limits that exist.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from './config/load.ts'
import { started } from './testing/started.ts'

const folder = join(import.meta.dirname, '..', 'deploy')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const environment = {
  ...{ DATABASE_URL: 'postgres://u:p@db:5432/everlong', ANN_KEY: 'a'.repeat(32), ADMIN_KEY: 'x'.repeat(32) },
}
const config = () => loadConfig(join(folder, 'gateway.yaml'), {}, environment)

test('the configuration is valid, and needs exactly the variables that the other files set', () => {
  expect(config()).toMatchObject({ store: { postgres: environment.DATABASE_URL }, level: 'answer', data: '/data' })
  const named = [...read('gateway.yaml').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name)
  const { gateway } = parse(read('compose.yaml')).services
  expect(Object.keys(gateway.environment).toSorted()).toEqual(named.toSorted())
  for (const name of named) expect(read('kubernetes.yaml')).toContain(name)
})

const seconds = (text: string) => Number(/^(\d+)s$/.exec(text)?.[1])

test('every stop waits for longer than the gateway does', () => {
  const { stopMs, storeMs } = config().limits
  const stop = (stopMs + storeMs) / 1_000
  expect(seconds(parse(read('compose.yaml')).services.gateway.stop_grace_period)).toBeGreaterThan(stop)
  const [deployment] = parseAllDocuments(read('kubernetes.yaml')).map((one) => one.toJS())
  const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec
  expect(terminationGracePeriodSeconds).toBeGreaterThan(stop + containers[0].lifecycle.preStop.sleep.seconds)
})

test('Kubernetes: three objects whose labels, ports and probes fit together, and fit the gateway', async () => {
  const documents = parseAllDocuments(read('kubernetes.yaml'))
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
  const [deployment, service, budget] = documents.map((one) => one.toJS())
  expect([deployment.kind, service.kind, budget.kind]).toEqual(['Deployment', 'Service', 'PodDisruptionBudget'])
  const { labels } = deployment.spec.template.metadata
  expect([deployment.spec.selector.matchLabels, service.spec.selector, budget.spec.selector.matchLabels]).toEqual([
    labels,
    labels,
    labels,
  ])
  const { containers, volumes } = deployment.spec.template.spec
  const [container] = containers
  expect(container.ports[0].containerPort).toBe(config().listen.port)
  expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(
    volumes.map(({ name }: { name: string }) => name),
  )
  const { url } = await started()
  for (const { httpGet } of [container.livenessProbe, container.readinessProbe]) {
    expect((await fetch(`${url}${httpGet.path}`)).status).toBe(200)
  }
})

test('the image gets no file of the folder but tarballs, so that no layer has the secrets of .env', () => {
  const rules = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(rules).toEqual(['*', '!*.tgz'])
})

test('the image runs the gateway as a user without rights, with the configuration that compose mounts', () => {
  const lines = read('Dockerfile').split('\n')
  expect(lines).toContain('USER node')
  const list = (word: string) => JSON.parse(lines.find((line) => line.startsWith(`${word} `))?.slice(word.length) ?? '')
  expect(list('ENTRYPOINT')).toEqual(['everlong', 'gateway'])
  const [, path] = list('CMD')
  const { volumes } = parse(read('compose.yaml')).services.gateway
  expect(volumes).toEqual([`./gateway.yaml:${path}:ro`])
})
