import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MODULES = readdirSync(`${ROOT}/src`)

/**
 * @param {string} path
 * @returns {string}
 */
function text(path) {
  return readFileSync(`${ROOT}/${path}`, 'utf-8')
}

test('the package holds the sources and nothing else', context => {
  if (spawnSync('npm', ['--version']).error && !process.env.CI) {
    context.skip('npm is not installed')
    return
  }
  const command = ['pack', '--dry-run', '--json', '--offline', '--ignore-scripts']
  const output = execFileSync('npm', command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
  const packed = JSON.parse(output.toString())
  const [{ files }] = Array.isArray(packed) ? packed : Object.values(packed)
  const paths = files.map((/** @type {{path: string}} */ file) => file.path).sort()
  assert.deepEqual(paths, ['README.md', 'index.js', 'node.js', 'package.json', ...MODULES.map(name => `src/${name}`)].sort())
})

test('no dependencies, exact versions of the tools, nothing run on installation', () => {
  const manifest = JSON.parse(text('package.json'))
  for (const key of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundleDependencies']) assert.ok(!(key in manifest))
  for (const version of Object.values(manifest.devDependencies)) assert.match(String(version), /^\d+\.\d+\.\d+$/)
  for (const script of Object.keys(manifest.scripts)) assert.doesNotMatch(script, /install|prepare|pack|publish/)
  for (const target of Object.values(manifest.exports)) assert.ok(existsSync(`${ROOT}/${target}`))
})

test('the sources are for browsers too, and can be pasted into one script', () => {
  /** @type {Map<string, string>} */
  const owners = new Map()
  for (const name of MODULES) {
    const source = text(`src/${name}`)
    assert.doesNotMatch(source, /import\(["'](?!\.)|await import|node:|require\(|process\.|\bBuffer\.|\beval\b|new Function/, name)
    for (const [, from] of source.matchAll(/^(?:import|\}) .*from '(.*)'$/gm)) assert.match(from, /^\.\/[a-z0-9]+\.js$/, name)
    for (const [line] of source.matchAll(/^export .*$/gm)) assert.match(line, /^export (async )?(function|class|const) /, name)
    for (const [, declared] of source.matchAll(/^(?:export )?(?:async )?(?:function\*? |class |const |let )(\w+)/gm)) {
      assert.ok(!owners.has(declared), `${declared} is declared in ${owners.get(declared)} and in ${name}`)
      owners.set(declared, name)
    }
  }
})

test('the sources pasted into one script work', () => {
  const script = sorted().map(name => text(`src/${name}`)
    .replace(/^import [^;]*? from '.*'$/gm, '').replace(/^export /gm, '')).join('\n')
  const run = spawnSync(process.execPath, ['--input-type=commonjs', '-e', `${script}\nconsole.log(typeof load, typeof loadFromUrl)`])
  assert.equal(run.stdout.toString().trim(), 'function function', run.stderr.toString())
})

/**
 * Modules after those they import.
 *
 * @returns {string[]}
 */
function sorted() {
  /** @type {Set<string>} */
  const done = new Set()
  const visit = (/** @type {string} */ name) => {
    if (done.has(name)) return
    for (const [, other] of text(`src/${name}`).matchAll(/from '\.\/(.*)'$/gm)) visit(other)
    done.add(name)
  }
  MODULES.forEach(visit)
  return [...done]
}

test('types', context => {
  const compiler = `${ROOT}/node_modules/typescript/bin/tsc`
  if (!existsSync(compiler) && !process.env.CI) {
    context.skip('typescript is not installed: npm install --prefix js')
    return
  }
  const run = spawnSync(process.execPath, [compiler, '--project', ROOT])
  assert.equal(run.status, 0, run.stdout.toString())
})

test('small', () => {
  const code = MODULES.map(name => text(`src/${name}`).replace(/\/\*\*.*?\*\//gs, '').replace(/^\s+/gm, '')).join('')
  const compressed = gzipSync(code, { level: 9 }).length
  assert.ok(compressed < 20_000, `${compressed} bytes without comments, compressed`)
})
