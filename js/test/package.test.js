import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  const sources = ['index.js', 'node.js', ...MODULES.map(name => `src/${name}`)]
  const types = sources.map(name => `types/${name.replace(/js$/, 'd.ts')}`)
  assert.deepEqual(paths, ['LICENSE', 'README.md', 'package.json', ...sources, ...types].sort())
})

test('no dependencies, exact versions of the tools, nothing run on installation', () => {
  const manifest = JSON.parse(text('package.json'))
  for (const key of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundleDependencies']) assert.ok(!(key in manifest))
  for (const version of Object.values(manifest.devDependencies)) assert.match(String(version), /^\d+\.\d+\.\d+$/)
  for (const script of Object.keys(manifest.scripts)) assert.doesNotMatch(script, /install|prepare|pack|publish/)
  const targets = Object.values(manifest.exports).flatMap(target => typeof target === 'string' ? target : Object.values(target))
  for (const target of targets) assert.ok(existsSync(`${ROOT}/${target}`))
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

/**
 * Run a tool of the development dependencies, or skip.
 *
 * @param {import('node:test').TestContext} context
 * @param {string} tool its script below node_modules
 * @param {string[]} args
 * @param {string} [cwd]
 */
function runTool(context, tool, args, cwd = ROOT) {
  const script = `${ROOT}/node_modules/${tool}`
  if (!existsSync(script) && !process.env.CI) {
    context.skip(`${tool} is not installed: npm install --prefix js`)
    return
  }
  const run = spawnSync(process.execPath, [script, ...args], { cwd })
  assert.equal(run.status, 0, run.stdout.toString() + run.stderr.toString())
}

test('types of the reader', context => runTool(context, 'typescript/bin/tsc', ['--project', ROOT]))

test('types of the page', context => runTool(context, 'typescript/bin/tsc', ['--project', `${ROOT}/tsconfig.page.json`]))

test('the types that ship are those of the sources: npm run declare', context => {
  const folder = mkdtempSync(join(tmpdir(), 'types-'))
  try {
    runTool(context, 'typescript/bin/tsc', ['--project', `${ROOT}/tsconfig.types.json`, '--outDir', folder])
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf-8' }).filter(path => path.endsWith('.d.ts'))) {
      assert.equal(text(`types/${name}`), readFileSync(`${folder}/${name}`, 'utf-8'), name)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('lint', context => {
  const folders = ['js', 'src/sparserec/export/page_template']
  runTool(context, 'eslint/bin/eslint.js', ['--config', 'js/eslint.config.js', ...folders], join(ROOT, '..'))
})

test('small', () => {
  const code = MODULES.map(name => text(`src/${name}`).replace(/\/\*\*.*?\*\//gs, '').replace(/^\s+/gm, '')).join('')
  const compressed = gzipSync(code, { level: 9 }).length
  assert.ok(compressed < 22_500, `${compressed} bytes without comments, compressed`)
})
