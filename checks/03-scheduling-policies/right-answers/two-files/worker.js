import express from 'express';

const app = express();
app.get('/', (request, response) => {
  process.send(1);
  response.type('text').send(`${process.pid}`);
});
app.listen(process.env.PORT ?? 8080);
