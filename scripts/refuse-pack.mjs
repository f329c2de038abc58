// The prepack script of every package.json in the checkout, because `npm pack` and `npm publish` would pack the sources, which do
// not run from node_modules. Plain JavaScript, so that it runs on any Node.
process.stderr.write(
  'everlong: this folder holds sources and cannot be packed or published as it is. ' +
    'Run "npm run package" at the root of the checkout: it makes the tarballs of everlong and @everlong/cli in dist/.\n',
)
process.exit(1)
