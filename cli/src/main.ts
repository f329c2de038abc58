console.log('hello', process.version, process.argv.slice(2))
