// As the README of Express 5 shows it.
import express from 'express';

const app = express();
app.get('/', (request, response) => response.send('Hello World'));
app.listen(process.env.PORT);
